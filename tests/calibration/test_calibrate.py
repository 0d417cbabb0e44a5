from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration import plan
from calibration.__main__ import main
from calibration.calibrate import calibrate, parse_budget, plan_lines, plan_of
from calibration.plan import Item, MeasuringGrid
from calibration.settings import Options
from simulator.base.errors import DataError, UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import load_profile

TINY = MeasuringGrid(
    contexts=(64, 256),
    tokens=(2, 16, 64, 65, 128),
    swept=(1, 64),
    batches=(2,),
    whole=128,
    state_mib=(0.1, 0.5),
    repetitions=3,
    warm_ups=1,
)
LEAN = ["simpy", "polars", "altair", "pydantic", "msgspec", "rich", "typer", "jinja2"]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every CPU calibration a matter of seconds."""
    pytest.importorskip("torch", reason="torch is not installed (extra: calibration)")
    pytest.importorskip("transformers")
    monkeypatch.setattr(plan, "CPU_GRID", TINY)
    monkeypatch.setattr(plan, "HELD_OUT_POINTS", 6)


def options(folder: Path, **changes: Any) -> Options:
    return replace(Options("toy-qwen3.5", "cpu", folder / "toy.json"), **changes)


@pytest.mark.usefixtures("tiny")
def test_the_toy_model_gives_a_profile_that_the_simulator_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = calibrate(options(tmp_path))
    out = tmp_path / "toy.json"
    assert load_profile(out) == profile
    assert (profile.kind, profile.model.scale, profile.model.weights) == ("toy", "whole", "random")
    assert profile.model.dtype == "float32"
    assert (profile.valid_n_max, profile.valid_c_max) == (128, 256)
    assert profile.state_bytes == 3 * (4 * 32 * 32 + (2 * 2 + 4) * 32 * 3) * 4
    assert profile.kv_bytes_per_token == 2 * 2 * 64 * 4
    assert profile.exactness is not None
    assert profile.exactness.fp32_max_abs is not None
    assert profile.exactness.fp32_max_abs <= 1e-5
    assert profile.validation is not None
    assert profile.software is not None
    assert profile.software.kernels
    assert profile.prefill.draws
    cost = CostModel(profile)
    assert 0 < cost.prefill_seconds(0, 64) < cost.prefill_seconds(0, 128) < 60
    assert cost.restore_seconds(profile.state_bytes, "disk") > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.json", "toy.json.journal"]

    # Once more: everything is in the journal, so nothing is timed and nothing changes.
    from calibration.harness import Bench

    def refuse(_: Bench, item: Item) -> float:
        raise AssertionError(f"measured again: {item.name}")

    text = out.read_bytes()
    monkeypatch.setattr(Bench, "seconds", refuse)
    journal = tmp_path / "toy.json.journal"
    journal.write_bytes(journal.read_bytes() + b'{"name": "prefi')  # as a kill leaves it
    calibrate(options(tmp_path))
    assert out.read_bytes() == text

    # Another seed is another calibration.
    with pytest.raises(UsageError, match="seed was 0, now 1; --fresh"):
        calibrate(options(tmp_path, seed=1))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:5], b"garbage\n", *lines[5:]]))
    with pytest.raises(DataError, match=r"toy\.json\.journal:6: not a line"):
        calibrate(options(tmp_path))


@pytest.mark.usefixtures("tiny")
def test_a_model_is_measured_in_the_precision_that_is_asked_for(tmp_path: Path) -> None:
    dtype = "bfloat16"
    profile = calibrate(options(tmp_path, dtype=dtype))
    assert (profile.model.dtype, profile.kv.dtype) == (dtype, dtype)
    assert profile.state.dtypes == {"ssm": "float32", "conv": dtype}
    assert profile.kv_bytes_per_token == 2 * 2 * 64 * 2
    assert profile.exactness is not None
    assert profile.exactness.fp32_max_abs is not None
    assert profile.exactness.fp32_max_abs <= 1e-5  # the gate is in fp32 all the same
    assert profile.exactness.bf16_argmax_agreement is not None
    with pytest.raises(UsageError, match=f"dtype was '{dtype}', now 'float32'; --fresh"):
        calibrate(options(tmp_path))


@pytest.mark.usefixtures("tiny")
def test_a_folder_with_weights_is_measured_as_it_is(tmp_path: Path) -> None:
    from tests.calibration.tiny import tiny_model

    folder = tmp_path / "My Model"
    tiny_model("nemotron-h").module.save_pretrained(folder)
    profile = calibrate(options(tmp_path, model=str(folder)))
    assert (profile.profile_id, profile.kind) == ("my-model-cpu", "measured")
    assert (profile.model.weights, profile.model.scale) == ("real", "whole")
    assert profile.model.layer_types == {"recurrent": 2, "attention": 1}
    assert profile.state.ssm_bytes == 2 * 4 * 16 * 16 * 4


@pytest.mark.usefixtures("tiny")
def test_a_model_that_fails_the_gate_gets_no_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from calibration import exactness

    wrong = exactness.ExactnessFinding(continued=3e-3, restored=3e-3, kv_left=0.1, no_replay=0.1)
    monkeypatch.setattr(exactness, "examine", lambda _: wrong)
    out = tmp_path / "toy.json"
    for _ in range(2):  # from the gate, then from the journal
        assert main(["--model", "toy-qwen3.5", "--out", str(out)]) == 3
        errors = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
        assert len(errors) == 1
        assert (
            "fails the exactness gate: resumed from a snapshot, its logits are off by 3.0e-03"
            in (errors[0])
        )
    assert not out.exists()


@pytest.mark.usefixtures("tiny")
def test_kernels_that_hide_a_wrong_state_get_no_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from calibration import exactness

    hidden = exactness.ExactnessFinding(continued=0.01, restored=0.01, kv_left=0.05, no_replay=0.1)
    monkeypatch.setattr(exactness, "examine_kernels", lambda _: hidden)
    with pytest.raises(DataError, match=r"with the kernels that are bound: .* off by 1.0e-02"):
        calibrate(options(tmp_path))
    assert not (tmp_path / "toy.json").exists()


@pytest.mark.usefixtures("tiny")
def test_memory_that_runs_out_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    from calibration import session

    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore.")

    monkeypatch.setattr(session, "build_for_gate", full)
    assert main(["--model", "toy-qwen3.5", "--out", str(tmp_path / "toy.json")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "exactness gate"
    assert lines[1].startswith("error: model 'toy-qwen3.5' does not fit the memory of ")
    assert len(lines) == 2
    assert not (tmp_path / "toy.json").exists()


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (OSError(28, "No space left on device", "x"), 2, "error: x: No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted; the same command goes on where it stood"),
    ],
)
def test_a_full_disk_and_an_interruption_are_one_line(
    raised: BaseException,
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: Options) -> None:
        raise raised

    monkeypatch.setattr("calibration.calibrate.calibrate", fail)
    assert main(["--model", "toy-qwen3.5", "--out", str(tmp_path / "toy.json")]) == code
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.usefixtures("tiny")
def test_a_model_that_is_too_big_is_measured_as_a_layer_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from calibration.subject import find_subject, fitting

    big = find_subject("qwen3.5-397b-a17b")
    assert fitting(big, 10**12, 2).plan.scale == "whole"
    assert fitting(big, 140 * 10**9, 2).plan.scale == "group x 15"
    with pytest.raises(UsageError, match=r"one layer group needs [\d.]+ GB .* [\d.]+ GB are free"):
        fitting(big, 10**9, 2)


@pytest.mark.usefixtures("tiny")
def test_a_profile_tells_what_it_must_be_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    from calibration import kernels
    from calibration.provenance import model_warnings
    from calibration.subject import find_subject

    monkeypatch.setattr(kernels, "installed", lambda _: None)
    group = model_warnings(find_subject("qwen3.5-397b-a17b", group=True), "cuda")
    assert [text.split(",")[0] for text in group] == [
        "the recurrence ran on the torch fallback",
        "the convolution ran in torch",
        "one layer group was timed and counted 15 times; embeddings and output head are left out",
        "random weights",
    ]
    assert model_warnings(find_subject("toy-qwen3.5"), "cpu") == []


@pytest.mark.parametrize("name", ["weights.pt", "model.pkl", "pytorch_model.bin", "x.ckpt"])
def test_a_pickle_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04.")
    with pytest.raises(DataError, match="a pickle may run code"):
        calibrate(options(tmp_path, model=str(tmp_path / name)))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--model", "qwen3.5-9"], 2, "did you mean 'qwen3.5-9b'"),
        (["--model", "toy-qwen3.5", "--out", "x.pkl"], 2, "--out: expected a name that ends in"),
        (["--model", "toy-qwen3.5", "--out", "no/x.json"], 2, "--out: there is no folder 'no'"),
        (["--model", "toy-qwen3.5", "--budget", "soon"], 2, "--budget: expected a time"),
        (["--model", "toy-qwen3.5", "--budget", "0 s"], 2, "--budget: expected more than no time"),
        (["--model", "toy-qwen3.5", "--device", "gpu"], 2, "device: expected cpu, cuda or cuda:0"),
        (["--model", "toy-qwen3.5", "--seed", "-1"], 2, "--seed: expected 0 to 2**63 - 1"),
        (["--model", "toy-qwen3.5", "--dtype", "fp8"], 2, "--dtype: expected float32, bfloat16 or"),
        (["--model", ".", "--group"], 2, "is a folder, whose weights are whole"),
        (["--model", "."], 3, "config.json: cannot be read"),
    ],
)
def test_bad_options_are_one_line(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    given = arguments if "--out" in arguments else [*arguments, "--out", "x.json"]
    assert main([*given, "--dry-run"]) == code
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith("error: ")
    assert message in caught.err
    assert caught.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "config", ["[]", "{}", '{"hidden_size": "wide"}', "{", '{"text_config": {"hidden_size": -1}}']
)
def test_a_broken_configuration_is_one_line(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(DataError, match=r"config\.json") as caught:
        plan_of(options(tmp_path, model=str(tmp_path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600), ("1.5 m", 90), ("10 min", 600), ("90 s", 90), ("2h", 7200)]
)
def test_budgets(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds


def test_the_plan_tells_blocks_and_times(tmp_path: Path) -> None:
    lines = plan_lines(*plan_of(options(tmp_path, model="qwen3.5-9b", device="cuda")))
    assert lines[0] == "qwen3.5-9b, whole, on cuda"
    assert any(line.startswith("rest of the grid") for line in lines)
    short = plan_lines(
        *plan_of(options(tmp_path, model="qwen3.5-9b", device="cuda", budget_seconds=120.0))
    )
    assert not any(line.startswith("rest of the grid") for line in short)
    group = plan_of(options(tmp_path, model="qwen3.5-397b-a17b", device="cuda", group=True))
    assert group[0].plan.scale == "group x 15"


def lean(code: str) -> str:
    """Run code where libraries that a GPU machine lacks cannot be imported."""
    blocked = f"import sys\nfor name in {LEAN!r}:\n    sys.modules[name] = None\n"
    ended = subprocess.run(
        [sys.executable, "-c", blocked + code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_plan_needs_neither_torch_nor_what_a_gpu_machine_lacks(tmp_path: Path) -> None:
    arguments = ["--model", "qwen3.5-9b", "--device", "cuda", "--dry-run"]
    code = (
        "sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from calibration.__main__ import main\n"
        f"assert main({[*arguments, '--out', str(tmp_path / 'x.json')]!r}) == 0\n"
    )
    assert "prefill" in lean(code)


def test_the_harness_needs_nothing_that_a_gpu_machine_lacks() -> None:
    pytest.importorskip("transformers")
    lean("import calibration.session, calibration.exactness, calibration.summary")
    lean("import calibration.prototype.compare")


def test_without_torch_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from calibration import preflight

    monkeypatch.setattr(preflight, "_installed", lambda _: None)
    with pytest.raises(UsageError, match="calibration needs torch, which is not installed"):
        calibrate(options(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_profiles_of_the_harness_are_json(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_bytes(b"PK\x03\x04" + b"\0" * 50)
    with pytest.raises(DataError, match="a pickle"):
        load_profile(path)
    path.write_text(json.dumps({"schema_version": 1}), encoding="utf-8")
    with pytest.raises(DataError, match="field"):
        load_profile(path)
