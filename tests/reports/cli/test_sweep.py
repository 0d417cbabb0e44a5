from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from reports.cli import main
from tests.reports.cli.conftest import STUDY, Milepost, start

TABLES = ("cells.parquet", "cells.csv", "manifest.json", "study.resolved.toml")
RESULTS = (*TABLES, "report.html")


def results(folder: Path, names: tuple[str, ...] = RESULTS) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def entries(folder: Path) -> int:
    return len(list(folder.glob("journal/[0-9a-f]*[0-9a-f].json")))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a sweep that ran in one piece, in one process."""
    folder = tmp_path_factory.mktemp("finished")
    study = folder / "study.toml"
    study.write_text(STUDY)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(study), "--out", str(folder / "out"), "--jobs", "1", "--quiet"])
    assert ended.value.code == 0
    return folder


def test_one_row_a_cell(finished: Path) -> None:
    cells = pl.read_parquet(finished / "out" / "cells.parquet")
    assert len(cells) == 4 * 3 * 2
    assert cells["error"].null_count() == len(cells)
    assert (cells["saved_tokens"] + cells["recomputed_tokens"] == cells["prompt_tokens"]).all()
    lost = pl.sum_horizontal(pl.col("^lost_.*_tokens$"))
    assert cells.select((lost + pl.col("saved_tokens") == pl.col("prompt_tokens")).all()).item()
    assert (cells["saved_tokens"] <= cells["ideal_saved_tokens"]).all()
    real = cells.filter(pl.col("placer") != "dense")
    assert (real["saved_tokens"] <= real["bound_saved_tokens"]).all()
    bounds = cells.group_by("capacity_bytes", "replication").agg(
        pl.col("bound_saved_tokens").n_unique()
    )
    assert set(bounds["bound_saved_tokens"]) == {1}
    sums = cells.select(pl.col("block_prompt_tokens").list.sum() == pl.col("prompt_tokens"))
    assert sums.to_series().all()
    assert cells["capacity_bytes"].null_count() == 8


def test_policies_meet_the_same_requests(finished: Path) -> None:
    cells = pl.read_parquet(finished / "out" / "cells.parquet")
    drawn = cells.group_by("replication").agg(pl.col("seed", "prompt_tokens").n_unique())
    assert drawn["seed"].to_list() == [1, 1]
    assert drawn["prompt_tokens"].to_list() == [1, 1]
    assert cells["prompt_tokens"].n_unique() == 2


def test_the_manifest_tells_what_was_done(finished: Path) -> None:
    manifest = json.loads((finished / "out" / "manifest.json").read_text())
    assert manifest["schema_version"] == 1
    assert manifest["baseline"] == "last"
    assert manifest["replications"] == 2
    assert manifest["grid"]["policy.placer"] == ["none", "last", "branch", "dense"]
    assert manifest["trace"]["requests"] == 120
    assert manifest["trace"]["deterministic"] is False
    assert manifest["failed"] == []
    assert manifest["command"].startswith("milepost sweep ")


def test_nothing_depends_on_the_number_of_workers(
    finished: Path, tmp_path: Path, milepost: Milepost
) -> None:
    flags = ("--out", tmp_path / "b", "--jobs", 2)
    assert milepost("sweep", finished / "study.toml", *flags).code == 0
    assert results(tmp_path / "b") == results(finished / "out")


def wait_for_entries(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    while entries(folder) < count and process.poll() is None:
        time.sleep(0.005)


def test_a_killed_sweep_resumes_to_the_same_bytes(
    finished: Path, tmp_path: Path, milepost: Milepost
) -> None:
    command = ("sweep", finished / "study.toml", "--out", tmp_path / "out")
    process = start(*command, "--jobs", 2)
    wait_for_entries(process, tmp_path / "out", 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()  # returns when the workers are gone too: they hold the pipe
    survivor = min((tmp_path / "out" / "journal").glob("[0-9a-f]*[0-9a-f].json"))
    stamp = survivor.stat().st_mtime_ns
    assert milepost(*command, "--jobs", 1).code == 0
    assert survivor.stat().st_mtime_ns == stamp  # not computed again
    assert results(tmp_path / "out") == results(finished / "out")


@pytest.mark.usefixtures("no_page")
def test_ctrl_c_leaves_a_folder_that_resumes(
    finished: Path, tmp_path: Path, milepost: Milepost
) -> None:
    command = ("sweep", finished / "study.toml", "--out", tmp_path / "out")
    process = start(*command, "--jobs", 2)
    wait_for_entries(process, tmp_path / "out", 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    assert milepost(*command, "--jobs", 1).code == 0
    assert results(tmp_path / "out", TABLES) == results(finished / "out", TABLES)


@pytest.mark.usefixtures("no_page")
def test_a_damaged_entry_is_computed_again(
    finished: Path, tmp_path: Path, milepost: Milepost
) -> None:
    command = ("sweep", finished / "study.toml", "--out", tmp_path / "out", "--jobs", 1)
    milepost(*command)
    for path in sorted((tmp_path / "out" / "journal").glob("[0-9a-f]*[0-9a-f].json"))[:2]:
        path.write_bytes(path.read_bytes()[:50])
    assert milepost(*command).code == 0
    assert results(tmp_path / "out", TABLES) == results(finished / "out", TABLES)


def test_the_page_again_from_the_stored_results(finished: Path, milepost: Milepost) -> None:
    page = finished / "out" / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert milepost("report", finished / "out").code == 0
    assert page.read_bytes() == before


def test_charts_as_images(
    finished: Path, milepost: Milepost, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = "<svg></svg>"  # the drawing itself is slow, and tested with the charts
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_: drawn)
    ended = milepost("report", finished / "out", "--images", "svg", "--json")
    assert ended.code == 0
    images = [Path(file) for file in ended.json["files"] if file.endswith(".svg")]
    assert len(images) == 16
    assert all(image.read_text() == drawn for image in images)


def test_report_needs_a_finished_sweep(milepost: Milepost, tmp_path: Path) -> None:
    assert milepost("report", tmp_path).code == 2
    (tmp_path / "cells.parquet").write_bytes(b"PAR1")
    (tmp_path / "manifest.json").write_text("{")
    assert milepost("report", tmp_path).code == 3
    (tmp_path / "manifest.json").write_text('{"schema_version": 9}')
    ended = milepost("report", tmp_path)
    assert (ended.code, "expected 1, found 9" in ended.err) == (3, True)
    (tmp_path / "manifest.json").write_text('{"schema_version": 1}')
    assert milepost("report", tmp_path).code == 3
    (tmp_path / "manifest.json").write_text("[]")
    assert milepost("report", tmp_path).code == 3


def test_another_study_in_the_same_folder_is_refused(finished: Path, milepost: Milepost) -> None:
    before = results(finished / "out")
    ended = milepost("sweep", finished / "study.toml", "--out", finished / "out", "--seed", 9)
    assert ended.code == 2
    assert "another study" in ended.err
    assert results(finished / "out") == before


BROKEN = """
from policies.placement.last import Last


class Moody(Last):
    def place(self, prefix, window):
        raise RuntimeError("bad\\nmood")
"""


@pytest.mark.usefixtures("no_page")
def test_a_failing_cell_is_told_and_the_rest_finishes(
    milepost: Milepost, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moody_placer.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    placers = "grid.policy.placer=['last', 'moody_placer:Moody']"
    sets = ("--set", placers, "--set", "cache.capacity=unbounded", "--set", "study.replications=1")
    ended = milepost("sweep", study, *sets, "--out", tmp_path / "out", "--jobs", 1, "--json")
    assert ended.code == 4
    (failed,) = ended.json["failed"]
    assert failed["placer"] == "moody_placer:Moody"
    assert "your policy 'moody_placer:Moody' failed: RuntimeError: bad\\nmood (" in failed["error"]
    assert "moody_placer.py:" in failed["error"]
    cells = pl.read_parquet(tmp_path / "out" / "cells.parquet")
    assert cells["error"].to_list() == [None, failed["error"]]
    assert cells["saved_tokens"].null_count() == 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [item["error"] for item in manifest["failed"]] == [failed["error"]]


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing_half_written(
    milepost: Milepost, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    ended = milepost("sweep", study, "--out", tmp_path / "out", "--jobs", 1)
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert ended.err.count("\n") == 1
    left = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["lock"]


def test_dry_run_tells_cells_requests_and_writes_nothing(
    milepost: Milepost, study: Path, tmp_path: Path
) -> None:
    plan = milepost("sweep", study, "--dry-run", "--json", "--out", tmp_path / "out").json
    assert (plan["cells"], plan["scenarios"], plan["replications"]) == (24, 12, 2)
    assert plan["requests"] == 24 * 120
    assert plan["minutes"] > 0
    assert plan["disk_bytes"] > 0
    assert not (tmp_path / "out").exists()
    assert "24 cells (12 scenarios x 2 replications)" in milepost("sweep", study, "--dry-run").out


@pytest.mark.usefixtures("no_page")
def test_a_replay_is_not_repeated_as_evidence(
    milepost: Milepost, trace_file: Path, tmp_path: Path
) -> None:
    study = tmp_path / "s.toml"
    study.write_text(f"[workload]\ntrace = '{trace_file.name}'\n[study]\nreplications = 3\n")
    for plan in ((), ("--dry-run",)):
        ended = milepost("sweep", study, "--out", tmp_path / "out", "--jobs", 1, *plan)
        assert ended.code == 2
        assert "one seed repeated is no evidence" in ended.err
    rate = ("--set", "study.replications=1", "--set", "arrivals.rate=2")
    ended = milepost("sweep", study, "--out", tmp_path / "out", "--jobs", 1, *rate)
    assert (ended.code, "'arrivals.rate': 2 contradicts the trace" in ended.err) == (2, True)
    flags = ("--set", "study.replications=1", "--json")
    ended = milepost("sweep", study, "--out", tmp_path / "out", "--jobs", 1, *flags)
    assert (ended.code, ended.json["cells"]) == (0, 1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["trace"]["deterministic"] is True
    assert len(manifest["trace"]["sha256"]) == 64


def test_out_is_needed(milepost: Milepost, study: Path) -> None:
    ended = milepost("sweep", study)
    assert ended.code == 2
    assert "--out" in ended.err


@pytest.mark.usefixtures("no_page")
def test_json_is_all_that_stdout_holds(finished: Path, milepost: Milepost) -> None:
    ended = milepost("sweep", finished / "study.toml", "--out", finished / "out", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["cells"] == 24


@pytest.mark.usefixtures("no_page")
def test_progress_goes_to_stderr(finished: Path, milepost: Milepost) -> None:
    ended = milepost("sweep", finished / "study.toml", "--out", finished / "out")
    assert "24 of 24 cells were done before" in ended.err
    assert ended.out.startswith("24 of 24 cells done; the page: ")
    quiet = milepost("sweep", finished / "study.toml", "--out", finished / "out", "--quiet")
    assert quiet.err == ""


def test_what_the_results_conclude_is_printed_and_kept(
    finished: Path, milepost: Milepost, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = json.loads((finished / "out" / "differences.json").read_text())
    answer, claims = kept["sentences"]
    assert answer.startswith("At ")
    assert f"of {kept['comparisons_corrected_for']} differences stand Holm's correction" in claims
    monkeypatch.setattr("reports.artifacts.writing.write_page", lambda *_: kept["sentences"])
    command = ("sweep", finished / "study.toml", "--out", finished / "out")
    assert milepost(*command).out.splitlines()[1:] == [answer, claims]
    assert milepost(*command, "--json").json["sentences"] == [answer, claims]
