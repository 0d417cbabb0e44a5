"""The study script of the published wall-clock experiment."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from simulator.profile import Profile, profile_to_json
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


def test_it_runs_every_strategy_on_one_model(
    script: ModuleType, profile: Profile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    (tmp_path / "profile.json").write_text(profile_to_json(profile))
    arguments = ["--requests", "3", "--passes", "1", "--generator", DOCUMENTS]
    arguments += ["--strategies", "none", "block:size=64", "--out", str(tmp_path / "rows.json")]
    assert script.main([*arguments, "--profile", str(tmp_path / "profile.json")]) == 0
    found = json.loads((tmp_path / "rows.json").read_text())
    assert [row["strategy"] for row in found["rows"]] == ["none", "block:size=64"]
    assert found["rows"][0]["saved_share"] == 0 < found["rows"][1]["saved_share"]
    assert "block:size=64" in capsys.readouterr().out


def test_what_is_wrong_is_said_in_one_line(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert script.main(["--model", "qwen9"]) == 2
    assert capsys.readouterr().err.startswith("error: cannot build a model 'qwen9'")
