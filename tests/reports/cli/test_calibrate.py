from __future__ import annotations

from pathlib import Path

import pytest

from simulator.base.installing import install_hint
from tests.reports.cli.conftest import Milepost


def test_the_plan_goes_to_stdout(milepost: Milepost, tmp_path: Path) -> None:
    arguments = ("calibrate", "--model", "qwen3.5-9b", "--device", "cuda", "--dry-run")
    ended = milepost(*arguments, "--budget", "10m", "--out", tmp_path / "x.json")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.out.startswith("qwen3.5-9b, whole, on cuda\n")
    assert list(tmp_path.iterdir()) == []


def test_without_torch_it_says_what_to_install(
    milepost: Milepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from calibration import preflight

    monkeypatch.setattr(preflight, "_installed", lambda _: None)
    ended = milepost("calibrate", "--model", "toy-qwen3.5", "--out", tmp_path / "x.json")
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err == (
        f"error: calibration needs torch, which is not installed: {install_hint('calibration')}\n"
    )


@pytest.mark.parametrize(
    ("model", "code", "message"),
    [("qwen3.5-9", 2, "did you mean 'qwen3.5-9b'"), ("weights.pt", 3, "a pickle may run code")],
)
def test_a_wrong_model_is_one_line(
    milepost: Milepost, tmp_path: Path, model: str, code: int, message: str
) -> None:
    ended = milepost("calibrate", "--model", model, "--out", tmp_path / "x.json")
    assert ended.code == code
    assert message in ended.err
    assert ended.err.count("\n") == 1
