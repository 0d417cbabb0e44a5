from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reports.compare import Compared, TwoRuns, compare_folders
from reports.compare.shown import evidence
from simulator.base.errors import DataError, UsageError
from tests.reports.compare.folders import write_run


def figure(runs: TwoRuns, name: str) -> Compared:
    return next(compared for compared in runs.comparisons if compared.measure.name == name)


def many(folder: Path, level: float, **settings: object) -> Path:
    """Write 640 requests of which about a share is saved; noise is the same in every run."""
    generator = np.random.default_rng(1)
    prompt = generator.integers(500, 1500, 640)
    share = np.clip(level + generator.normal(scale=0.1, size=640), 0, 1)
    saved = (share * prompt).astype(int)
    ttft = (0.1 + (prompt - saved) * 1e-4).tolist()
    session = np.repeat(np.arange(80), 8).tolist()
    folder = write_run(folder, prompt.tolist(), saved.tolist(), ttft, session=session)
    summary = json.loads((folder / "summary.json").read_text())
    summary["scenario"] |= settings
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def test_figures_worked_by_hand(tmp_path: Path) -> None:
    prompt = [100, 200, 300, 400]
    a = write_run(tmp_path / "a", prompt, [0, 100, 0, 200], [1.0, 2.0, 3.0, None])
    b = write_run(
        tmp_path / "b",
        prompt,
        [50, 100, 0, 100],
        [1.0, 1.0, 1.0, 5.0],
        scenario={"policy": {"placer": "branch"}, "cache": {"capacity": 9}},
    )
    runs = compare_folders(a, b)
    assert [(c.key, c.a, c.b) for c in runs.changes] == [
        ("policy.placer", "last", "branch"),
        ("cache.capacity", None, 9),
    ]
    hits, ttft = figure(runs, "token_hit_rate"), figure(runs, "mean_ttft")
    assert (hits.a, hits.b, hits.change) == (0.3, 0.25, pytest.approx(-0.05))
    assert hits.relative == pytest.approx(-1 / 6)
    assert (ttft.a, ttft.b, ttft.change) == (2.0, 2.0, 0.0)
    finished = figure(runs, "finished_share")
    assert (finished.a, finished.b) == (0.75, 1.0)
    p99 = figure(runs, "p99_ttft")
    assert (p99.a, p99.b, p99.difference, p99.verdict) == (None, None, None, "unknown")
    assert runs.requests == {"more": 1, "less": 1, "the same": 2}
    assert runs.lost_tokens["kv_evicted"] == (700, 750)


def test_a_real_difference_is_told_and_pairing_makes_it_sharp(tmp_path: Path) -> None:
    a, b = many(tmp_path / "a", 0.5), many(tmp_path / "b", 0.51)
    paired = figure(compare_folders(a, b), "token_hit_rate")
    assert (paired.verdict, paired.change) == ("better", pytest.approx(0.01, abs=1e-3))
    unpaired = figure(compare_folders(a, b, paired=False), "token_hit_rate")
    assert (unpaired.verdict, unpaired.change) == ("unsure", pytest.approx(paired.change))


def test_a_run_is_equal_to_itself_and_that_is_no_comparison(tmp_path: Path) -> None:
    a = many(tmp_path / "a", 0.5)
    runs = compare_folders(a, a)
    assert runs.changes == ()
    assert {compared.verdict for compared in runs.comparisons} == {"equal"}
    assert {compared.p_holm for compared in runs.comparisons} == {None}


def test_the_widest_interval_is_taken_unless_a_unit_is_named(tmp_path: Path) -> None:
    a, b = many(tmp_path / "a", 0.5), many(tmp_path / "b", 0.51)
    widths = {}
    for unit in (None, "time", "sessions"):
        difference = figure(compare_folders(a, b, unit=unit), "mean_ttft").difference
        assert difference is not None
        widths[unit] = difference.error
    assert widths[None] == max(filter(None, widths.values()))
    sessions = figure(compare_folders(a, b, unit="sessions"), "mean_ttft").difference
    assert sessions is not None
    assert (sessions.method, sessions.count) == ("sessions", 80)


def test_sessions_that_last_as_long_as_the_trace_leave_nothing_to_tell(tmp_path: Path) -> None:
    """Every session saves all or nothing more, and its requests are spread over the trace."""
    generator = np.random.default_rng(2)
    session = np.tile(np.arange(40), 32)
    gain = np.where(generator.random(40) < 0.5, 100, 0)[session]
    prompt, ttft = [1000] * 1280, [1.0] * 1280
    columns = {"session": session.tolist()}
    a = write_run(tmp_path / "a", prompt, [0] * 1280, ttft, **columns)
    b = write_run(tmp_path / "b", prompt, gain.tolist(), ttft, **columns)
    runs = compare_folders(a, b)
    difference = figure(runs, "token_hit_rate").difference
    assert difference is not None
    assert difference.low is None
    assert difference.reason.startswith("too short to tell: it lasts 2.")
    assert difference.reason in evidence(runs)
    alone = figure(compare_folders(a, b, unit="sessions"), "token_hit_rate").difference
    assert alone is not None
    assert (alone.method, alone.count) == ("sessions", 40)


def test_requests_that_count_in_one_run_only_are_left_out(tmp_path: Path) -> None:
    a, b = many(tmp_path / "a", 0.5), many(tmp_path / "b", 0.5, study={"warmup": 0.25})
    runs = compare_folders(a, b)
    assert figure(runs, "token_hit_rate").verdict == "equal"
    (note,) = runs.notes
    assert note.startswith("160 of 640 requests that count in A")
    assert [change.key for change in runs.changes] == ["study.warmup"]


def test_other_prompts_are_refused_unless_unpaired(tmp_path: Path) -> None:
    ones = ([10, 10], [0, 0], [1.0, 1.0])
    a = write_run(tmp_path / "a", *ones)
    b = write_run(tmp_path / "b", *ones, prompts="q")
    c = write_run(tmp_path / "c", [10, 11], [0, 0], [1.0, 1.0])
    for other in (b, c):
        with pytest.raises(UsageError, match=r"replayed different requests.*--unpaired"):
            compare_folders(a, other)
        assert not compare_folders(a, other, paired=False).paired


def test_wrong_folders_are_one_line(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [10], [0], [1.0])
    with pytest.raises(UsageError, match="expected the folder of a run"):
        compare_folders(a, tmp_path)
    with pytest.raises(UsageError, match="tells no sessions"):
        compare_folders(a, a, unit="sessions")
    with pytest.raises(UsageError, match="unknown measure 'p99_tfft'; did you mean"):
        compare_folders(a, a, measures=["p99_tfft"])
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "cells.parquet").touch()
    with pytest.raises(UsageError, match="two folders of one kind"):
        compare_folders(a, tmp_path / "sweep")
    (a / "records.parquet").unlink()
    with pytest.raises(UsageError, match=r"no finished run here \(records.parquet is missing\)"):
        compare_folders(a, a)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema_version": 2}, "'schema_version': expected 1, found 2"),
        ({"scenario": None}, "'scenario': expected one JSON object, found null"),
        ({"scenario": {"study": {"warmup": 2}}}, "'scenario.study.warmup': expected a number < 1"),
    ],
)
def test_a_damaged_summary_is_named(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    a = write_run(tmp_path / "a", [10], [0], [1.0])
    summary = json.loads((a / "summary.json").read_text())
    (a / "summary.json").write_text(json.dumps(summary | change))
    with pytest.raises(DataError, match=problem):
        compare_folders(a, a)
    (a / "summary.json").write_text("[")
    with pytest.raises(DataError, match=r"summary.json:1: not JSON"):
        compare_folders(a, a)


def test_damaged_records_are_named(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [10, 10], [0, 0], [1.0, 1.0])
    path = a / "records.parquet"
    records = pl.read_parquet(path)
    for bad, problem in (
        (records.drop("status"), "'status': missing"),
        (records.with_columns(pl.col("saved_tokens").cast(pl.Float64)), "expected whole numbers"),
        (records.with_columns(pl.lit(1).alias("request")), "expected ascending numbers"),
    ):
        bad.write_parquet(path)
        with pytest.raises(DataError, match=problem):
            compare_folders(a, a)
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="damaged: expected Parquet"):
        compare_folders(a, a)


def test_a_queue_that_grows_is_told_with_both_loads(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / name, [10], [0], [1.0]) for name in "ab")
    assert not any("queue" in note for note in compare_folders(a, b).notes)
    summary = json.loads((b / "summary.json").read_text())
    summary["server"] = {
        "offered_load": 1.25,
        "offered_load_nothing_saved": 1.5,
        "utilisation": 1.0,
        "queue_grows": True,
    }
    (b / "summary.json").write_text(json.dumps(summary))
    (note,) = compare_folders(a, b).notes
    assert note.startswith("the queue of B grows to the end of the trace")
    assert "B: busy 100.0 % of the time up to the last arrival; offered load 1.25, 1.50 if" in note


def test_any_percentile_is_compared_where_there_are_requests_enough(tmp_path: Path) -> None:
    times = [float(value) for value in range(1, 101)]
    a = write_run(tmp_path / "a", [10] * 100, [0] * 100, times)
    b = write_run(tmp_path / "b", [10] * 100, [0] * 100, [2 * value for value in times])
    figures = compare_folders(a, b, measures=["p95.0_ttft", "p50_ttft", "p99.9_ttft"]).comparisons
    assert [each.measure.name for each in figures] == ["p50_ttft", "p95_ttft", "p99.9_ttft"]
    assert (figures[1].a, figures[1].b) == (pytest.approx(95.05), pytest.approx(190.1))
    assert (figures[2].a, figures[2].b) == (None, None)


def test_settings_of_a_folder_of_before_go_by_their_names_of_now(tmp_path: Path) -> None:
    before = {"capacity": "8 GiB", "evicts": "run"}
    now = {"capacity": "8 GiB", "pools": "unified", "cut": "span", "count_running": False}
    old, new = (many(tmp_path / n, 0.5, cache=c) for n, c in (("old", before), ("new", now)))
    assert compare_folders(old, new).changes == ()
    split = many(tmp_path / "split", 0.5, cache=now | {"pools": "split:states=8", "cut": "tail"})
    changes = {each.key: (each.a, each.b) for each in compare_folders(old, split).changes}
    assert changes == {
        "cache.pools": ("unified", "split:states=8"),
        "cache.cut": ("span", "tail"),
    }
