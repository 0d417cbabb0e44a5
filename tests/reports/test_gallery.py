"""The studies that users copy from: the command in each header works, and none takes long."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from reports.cli import main
from reports.study.cells import expand
from reports.study.layers import read_settings
from tests.conftest import ROOT

STUDIES = ROOT / "studies"
SMALL = ("--set", "workload.requests=80", "--set", "study.replications=2", "--quiet")
FEW = ("--jobs", "1", "--set", 'grid.cache.capacity=["8 GiB", "64 GiB"]')
SWEPT = ("demo.toml", "comparison.toml", "engine.toml", "paper/generated.toml")
MOST_REQUESTS = 400_000  # a core replays more than 5,000 a second: well under two minutes for two


def commands(study: Path) -> list[list[str]]:
    """Return the commands in a study's header, as words."""
    lines = study.read_text().partition("\n\n")[0].replace("\\\n#", "").splitlines()
    comments = (line.removeprefix("#").strip() for line in lines)
    return [shlex.split(line)[1:] for line in comments if line.startswith("milepost ")]


def ended(monkeypatch: pytest.MonkeyPatch, words: list[str], out: Path, *more: str) -> int:
    """Run a command in the repository's root with another output folder; return its exit code."""
    monkeypatch.chdir(ROOT)
    words = [str(out) if last == "--out" else word for last, word in pairwise(["", *words])]
    with pytest.raises(SystemExit) as end:
        main([*words, *SMALL, *more])
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize("name", SWEPT)
def test_a_sweep_runs_as_its_header_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.artifacts.writing.write_page", lambda *_: [])
    words = commands(STUDIES / name)[0]
    assert words[:2] == ["sweep", f"studies/{name}"]
    assert ended(monkeypatch, words, tmp_path / "out", *FEW) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["failed"] == []


@pytest.mark.parametrize("name", SWEPT)
def test_a_sweep_is_over_soon_and_needs_no_file(name: str) -> None:
    study, cells = expand(read_settings(STUDIES / name))
    assert study.workload.trace is None
    assert len(cells) * study.workload.knobs["requests"] <= MOST_REQUESTS


def test_the_capacity_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = commands(STUDIES / "capacity.toml")[0]
    code = ended(monkeypatch, words, tmp_path, "--within", "1", "--no-sensitivity", *FEW)
    assert code in (0, 99)  # so few requests may not meet the target
    report = json.loads((tmp_path / "capacity.json").read_text())
    assert len(report["answers"]) == 4
    assert all(answer["error"] is None for answer in report["answers"])


def test_the_drift_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = commands(STUDIES / "drift.toml")[0]
    assert ended(monkeypatch, words, tmp_path, "--set", "workload.requests=800") == 0
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize("name", [*SWEPT[1:], "capacity.toml", "drift.toml", "mooncake.toml"])
def test_headers_say_how_to_use_one_s_own_trace(name: str) -> None:
    own = [words for words in commands(STUDIES / name)[1:] if "--out" in words]
    assert any("trace" in word for words in own for word in words)
