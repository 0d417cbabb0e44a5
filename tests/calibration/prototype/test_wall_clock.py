"""The study script of the published wall-clock experiment."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from calibration.prototype.served import Pass, read_run
from calibration.settings import Options
from simulator.costs.profile import Profile, profile_to_json
from tests.calibration.prototype.conftest import DOCUMENTS
from tests.calibration.prototype.requests import run_of, served

SCRIPT = Path(__file__).parents[3] / "studies" / "paper" / "wall_clock.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wall_clock", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["wall_clock"] = module
    spec.loader.exec_module(module)
    return module


def test_a_strategy_is_told_in_sums(script: ModuleType) -> None:
    row = script.row_of(
        run_of(
            served(0, 1.0, 2.0, positions=(50, 100)),
            served(1, 2.0, 2.0, saved_tokens=50, overlap_tokens=50),
            placer="branch",
        )
    )
    assert (row.strategy, row.saved_share, row.checkpoints, row.cuts) == ("branch", 0.25, 2, 1)
    assert (row.simulated_seconds, row.measured_seconds, row.error) == (3.0, 4.0, -0.25)


def few(folder: Path, profile: Profile, *strategies: str) -> list[str]:
    """Return the arguments for three requests and two passes, priced by a profile."""
    (folder / "given.json").write_text(profile_to_json(profile))
    arguments = ["--requests", "3", "--passes", "2", "--generator", DOCUMENTS]
    arguments += ["--profile", str(folder / "given.json"), "--out", str(folder / "out")]
    return [*arguments, "--strategies", *strategies]


def test_every_strategy_is_run_and_what_was_run_is_not_run_again(
    script: ModuleType,
    profile: Profile,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from calibration.prototype.run import Prototype

    serve, served = Prototype.serve, 0

    def killed(prototype: Prototype) -> Pass:
        nonlocal served
        if served == 3:
            raise KeyboardInterrupt
        served += 1
        return serve(prototype)

    arguments = few(tmp_path, profile, "none", "block:size=64")
    monkeypatch.setattr(Prototype, "serve", killed)
    with pytest.raises(KeyboardInterrupt):
        script.main(arguments)
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "pass 0 of none",
        "pass 0 of block",
        "pass 1 of block",  # there and back
    ]
    monkeypatch.setattr(Prototype, "serve", serve)
    assert script.main(arguments) == 0
    told = capsys.readouterr()
    assert [line.partition(":")[0] for line in told.err.splitlines()] == ["pass 1 of none"]
    assert "| block:size=64 |" in told.out
    assert "note: " in told.out

    out = tmp_path / "out"
    found = json.loads((out / "wall_clock.json").read_text())
    assert [row["strategy"] for row in found["rows"]] == ["none", "block:size=64"]
    assert found["rows"][0]["saved_share"] == 0 < found["rows"][1]["saved_share"]
    assert found["service"][0]["requests"] == found["ttft"][0]["requests"] == 6
    runs = [read_run(out / f"strategy-{number:02}.json") for number in (0, 1)]
    assert [run.setting.placer for run in runs] == ["none", "block:size=64"]
    assert {len(request.passes_seconds) for run in runs for request in run.requests} == {2}
    assert {request.arrival_seconds for request in runs[0].requests} == {
        request.arrival_seconds for request in runs[1].requests
    }

    # All of it is in the folder by now: nothing is served, and nothing changes.
    written = (out / "wall_clock.json").read_bytes()
    monkeypatch.setattr(Prototype, "serve", None)
    assert script.main(arguments) == 0
    assert (out / "wall_clock.json").read_bytes() == written

    # Another trace is another experiment.
    capsys.readouterr()
    other = ["--generator", DOCUMENTS.replace("150", "151")]
    for changed in (["--seed", "1"], other):
        assert script.main([*arguments, *changed]) == 2
        assert "trace was" in capsys.readouterr().err
    monkeypatch.setattr(Prototype, "serve", serve)
    assert script.main([*arguments, *other, "--passes", "1", "--fresh"]) == 0
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_without_a_profile_the_model_is_calibrated_first(
    script: ModuleType, profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    asked: list[Options] = []

    def calibrated(options: Options) -> Profile:
        asked.append(options)
        return profile

    monkeypatch.setattr(script, "calibrate", calibrated)
    monkeypatch.setattr(script, "run_all", lambda _, found, *__: [found.profile_id])
    arguments = ["--model", "qwen3.5-0.8b", "--group", "--dtype", "float32", "--budget", "8m"]
    assert script.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    (options,) = asked
    assert (options.model, options.group, options.dtype) == ("qwen3.5-0.8b", True, "float32")
    assert options.budget_seconds == 480
    assert options.out == tmp_path / "out" / "profile.json"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", "qwen9"], 2, "cannot build a model 'qwen9'"),
        (["--passes", "0"], 2, "--passes: expected 1 to 100, found 0"),
        (["--dtype", "int3"], 2, "--dtype: expected float32, bfloat16 or float16"),
        (["--profile", "no.json"], 3, "no.json: cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    script: ModuleType,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    assert script.main([*arguments, "--out", str(tmp_path / "out")]) == code
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert said in told
    assert told.count("\n") == 1
