from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import reports
import simulator
import workloads
from reports import Results, Study
from reports.execution.sweep import sweep
from reports.study.layers import read_settings
from simulator.base.errors import UsageError
from tests.conftest import ROOT

SETTINGS = {
    "workload": {"requests": 60, "documents": 3},
    "study.replications": 2,
    "grid": {"policy.placer": ["last", "branch"]},
}


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the page, which takes longer than everything else."""
    monkeypatch.setattr("reports.artifacts.writing.write_page", lambda *_: [])


def test_a_study_is_the_same_built_and_read(tmp_path: Path) -> None:
    study = Study(SETTINGS)
    assert study.settings["workload"]["requests"] == 60
    assert study.plan()["cells"] == 4
    path = tmp_path / "study.toml"
    path.write_text(
        "[workload]\nrequests = 60\ndocuments = 3\n[study]\nreplications = 2\n"
        '[grid]\n"policy.placer" = ["last", "branch"]\n'
    )
    assert Study.read(path).settings == study.settings
    changed = Study.read(path, {"cache.capacity": "1 GiB"})
    assert changed.settings["cache"]["capacity"] == 1 << 30
    assert study.with_settings({"cache": {"capacity": "1 GiB"}}).settings == changed.settings
    assert study.settings["cache"]["capacity"] == "unbounded"


@pytest.mark.usefixtures("no_page")
def test_its_cells_are_those_of_a_sweep(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    results = Study(SETTINGS).run(tmp_path / "a", on_progress=lambda *done: seen.append(done))
    assert seen == [(done, 4) for done in range(5)]
    flat = {
        "workload.requests": 60,
        "workload.documents": 3,
        "study.replications": 2,
        "grid.policy.placer": ["last", "branch"],
    }
    settings = read_settings(None, [(key, value, "test") for key, value in flat.items()])
    sweep(settings, tmp_path / "b", 1, "milepost sweep study.resolved.toml --out DIR")
    for name in ("cells.parquet", "manifest.json", "study.resolved.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert results.cells.shape[0] == 4
    assert results.manifest["grid"] == {"policy.placer": ["last", "branch"]}
    assert results.failed == []
    assert Results(tmp_path / "b").cells.equals(results.cells)


def test_what_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown key 'polcy\.placer'; did you mean"):
        Study({"polcy": {"placer": "last"}})
    with pytest.raises(UsageError, match="no finished sweep here"):
        _ = Results(tmp_path).cells


def test_packages_have_what_they_promise_and_no_more() -> None:
    for package in (reports, simulator, workloads):
        for name in package.__all__:
            assert callable(getattr(package, name))
        with pytest.raises(AttributeError, match="has no attribute 'sumulate'"):
            _ = package.sumulate


def test_placers_need_no_simpy_and_packages_load_nothing_heavy() -> None:
    code = (
        "import sys\nsys.modules['simpy'] = None\n"
        "import simulator, workloads, reports\n"
        "print([n for n in ('numpy', 'scipy', 'polars', 'pydantic') if n in sys.modules])\n"
        "from policies.registry import create\nprint(create('placer', 'branch').place)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("[]\n<bound method")


@pytest.mark.usefixtures("no_page")
def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(ROOT / "studies" / "python_interface.py"))
    output = capsys.readouterr().out
    assert "500 requests" in output
    assert "study.policy.eviction" in output
    assert not names["folder"].exists()
