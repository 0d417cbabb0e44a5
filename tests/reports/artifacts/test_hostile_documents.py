"""Edited and damaged files of results: one line and an exit code, never a traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reports.artifacts.writing import read_artifacts
from reports.capacity.answering import LOAD
from reports.capacity.answers import read_result
from reports.cli import exit_code
from reports.compare.run_folder import open_run
from reports.pages import comparison
from reports.pages.capacity import kept_report
from reports.report.html import render
from simulator.base.errors import DataError, MilepostError
from tests.reports.artifacts.hostile import broken, damaged
from tests.reports.compare.folders import write_run
from tests.reports.sample_study import sample

GIB = 1 << 30
NEVER = (": infinity", ": not a number", ": digits", ": surrogate")


def trial(capacity: int, value: float) -> dict[str, Any]:
    verdicts = dict.fromkeys(("may_meet", "meets", "surely_meets"), value >= 0.5)
    return {
        "capacity_bytes": capacity,
        "value": value,
        **verdicts,
        "dollars_per_million_tokens": 0.25,
        "token_hit_rate": value,
        "ttft_mean_seconds": 0.5,
        "ttft_p99_seconds": None,
        "cache_peak_bytes": float(capacity),
        **dict.fromkeys(LOAD, 0.5),
        "queue_grows": False,
        "extrapolated_requests": 1.0,
        "requests_not_served": 0.0,
    }


def answer(name: str, capacity: int | None) -> dict[str, Any]:
    nearest = None if capacity else trial(GIB, 0.25)
    bound = None if capacity else {"value": 0.375, "meets": False, **dict.fromkeys(LOAD, 0.5)}
    knee = {
        "capacity_bytes": GIB,
        "dollars_per_million_tokens": 0.25,
        "smaller_above_dollars": 1.5,
        "larger_below_dollars": None,
        "dollars_per_gib_hour": 0.5,
        "worth": [{"capacity_bytes": GIB, "dollars_per_gib_hour": None}],
    }
    return {
        "name": name,
        "marks": ["looks ahead"],
        "placer": name,
        "eviction": "lru",
        "admission": "always",
        "profile": "toy",
        "error": None,
        "capacity_bytes": capacity,
        "low_bytes": GIB if capacity else None,
        "high_bytes": capacity,
        "missed_below_bytes": GIB,
        "value": 0.75 if capacity else None,
        "method": "replications",
        "halved": False,
        "uneven": True,
        "missed_above_bytes": [4 * GIB],
        "trials": [trial(GIB, 0.25), trial(2 * GIB, 0.75 if capacity else 0.25)],
        "knee": knee if capacity else None,
        "nearest": nearest,
        "bound": bound,
        "memory_can_help": None if capacity else False,
    }


def capacity_document() -> dict[str, Any]:
    moved = {"name": "traffic +20 %", "note": "6/s", "answer": answer("last", None), "caution": "c"}
    return {
        "schema_version": 1,
        "kind": "capacity",
        "title": "t",
        "command": "milepost capacity",
        "milepost_version": "0",
        "study": {"server": {"kind": "queue"}},
        "target": {
            "metric": "token_hit_rate",
            "title": "token hit rate",
            "limit": 0.5,
            "text": "token hit rate >= 50 %",
        },
        "within": 0.03,
        "prices": {"dollars_per_gib_hour": 0.5, "dollars_per_gpu_hour": 2.0},
        "replications": 2,
        "draws": False,
        "warmup_share": 0.125,
        "trace": {
            "name": "made",
            "requests": 9,
            "prompt_tokens": 90,
            "granularity": 1,
            "sha256": None,
            "notes": ["a note"],
        },
        "profile": {"id": "toy", "kind": "toy", "lossy": {"toy": "keeps half"}},
        "warnings": ["w"],
        "answers": [answer("last", 2 * GIB), answer("branch", None)],
        "best": 0,
        "sensitivity": [moved],
        "cells": 12,
    }


def comparison_document() -> dict[str, Any]:
    figure = {
        "place": {"cache.capacity": GIB, "policy.placer": "last"},
        "measure": "token_hit_rate",
        "unit": "share",
        "a": 0.25,
        "b": 0.5,
        "difference": 0.25,
        "low": 0.125,
        "high": 0.375,
        "resampled": "blocks",
        "count": 64,
        "freedom": 15.0,
        "relative": 1.0,
        "p_holm": 0.001,
        "margin": 0.005,
        "verdict": "better",
    }
    return {
        "schema_version": 1,
        "milepost_version": "0",
        "command": "milepost compare",
        "kind": "run",
        "a": "a",
        "b": "b",
        "paired": True,
        "changes": [{"key": "policy.placer", "a": "last", "b": None}],
        "comparisons": [figure],
        "requests": {"more": 3},
        "lost_tokens": {"kv_evicted": {"a": 3, "b": 4}},
        "notes": ["a note"],
        "margins": {"points": 0.5, "times": 0.02},
        "failed": ["a line"],
    }


def refused(read: Any, file: Path, name: str) -> bool:
    """Whether a file is refused, in one line that names it; any other error fails the test."""
    try:
        read()
    except MilepostError as error:
        problem = error
    else:
        return False
    assert problem.exit_code in {2, 3}, name
    assert str(problem).startswith(str(file)), name
    assert "\n" not in str(problem), name
    return True


def copies(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    yield from damaged(document)
    yield from broken(json.dumps(document, indent=1).encode(), 60)


def shown_capacity(folder: Path) -> None:
    """Read an answer, and check what its page says but for the charts' own script."""
    json.dumps(read_result(folder)[1], allow_nan=False)


def shown_comparison(folder: Path) -> None:
    json.dumps(comparison.kept_report(folder).caveats, allow_nan=False)


@pytest.mark.parametrize(
    ("file", "document", "read", "least"),
    [
        ("capacity.json", capacity_document(), shown_capacity, 2_000),
        ("compare.json", comparison_document(), shown_comparison, 400),
    ],
)
def test_every_field_with_every_kind_of_wrong_value(
    tmp_path: Path, file: str, document: dict[str, Any], read: Any, least: int
) -> None:
    path, count = tmp_path / file, 0
    path.write_text(json.dumps(document))
    read(tmp_path)
    for name, raw in copies(document):
        path.write_bytes(raw)
        was = refused(lambda: read(tmp_path), path, name)
        assert was or not name.endswith(NEVER), name
        count += was
    assert count >= least


@pytest.mark.parametrize(
    ("file", "document", "render"),
    [
        ("capacity.json", capacity_document(), lambda at: render(kept_report(at))),
        (
            "compare.json",
            comparison_document(),
            lambda at: render(comparison.kept_report(at)),
        ),
    ],
)
def test_what_is_read_has_a_page(
    tmp_path: Path, file: str, document: dict[str, Any], render: Any
) -> None:
    path, shown = tmp_path / file, 0
    everything = list(copies(document))
    random.Random(0).shuffle(everything)
    for name, raw in everything:
        path.write_bytes(raw)
        shown += not refused(lambda: render(tmp_path), path, name)
        if shown == 8:
            break
    assert shown == 8


def test_a_manifest_with_every_kind_of_wrong_value(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    cells.write_parquet(tmp_path / "cells.parquet")
    path, count = tmp_path / "manifest.json", 0
    for name, raw in copies(manifest):
        path.write_bytes(raw)
        count += refused(lambda: read_artifacts(tmp_path), path, name)
    assert count > 300


COLUMNS: dict[str, Any] = {
    "text": "odd",
    "true": True,
    "minus one": -1,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "list": [1, 2],
    "bytes": b"\xff",
    "object": {"a": 1},
}


@pytest.mark.parametrize("column", ["replication", "placer", "capacity_bytes", "saved_tokens"])
@pytest.mark.parametrize("kind", ["missing", *COLUMNS])
def test_a_column_of_cells_that_is_none_is_named(tmp_path: Path, column: str, kind: str) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    other = pl.Series(column, [COLUMNS.get(kind)] * len(cells))
    changed = cells.drop(column) if kind == "missing" else cells.with_columns(other)
    changed.write_parquet(tmp_path / "cells.parquet")
    if column == "placer" and kind == "text":
        read_artifacts(tmp_path)
        return
    if column == "saved_tokens" and kind == "missing":
        read_artifacts(tmp_path)  # not every version wrote every figure
        return
    with pytest.raises(DataError, match=rf"cells.parquet: field '{column}': "):
        read_artifacts(tmp_path)


def test_saved_and_lost_tokens_make_the_prompts(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    changed = cells.with_columns(pl.col("saved_tokens") + 5)
    changed.write_parquet(tmp_path / "cells.parquet")
    with pytest.raises(DataError, match="'saved_tokens': expected saved and lost tokens that make"):
        read_artifacts(tmp_path)


def test_lists_over_blocks_are_of_one_length(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    shorter = cells.with_columns(pl.col("block_saved_tokens").list.head(3))
    shorter.write_parquet(tmp_path / "cells.parquet")
    with pytest.raises(DataError, match=r"'block_saved_tokens': expected 64 blocks .* found 3"):
        read_artifacts(tmp_path)


@pytest.mark.parametrize("kind", ["missing", *COLUMNS])
@pytest.mark.parametrize("column", ["saved_tokens", "request", "session"])
def test_a_column_of_records_that_is_none_is_named(tmp_path: Path, column: str, kind: str) -> None:
    run = write_run(tmp_path / "a", [10, 12], [0, 1], [1.0, 2.0], session=[1, 2])
    records = pl.read_parquet(run / "records.parquet")
    other = pl.Series(column, [COLUMNS.get(kind)] * len(records))
    changed = records.drop(column) if kind == "missing" else records.with_columns(other)
    changed.write_parquet(run / "records.parquet")
    if column == "session" and kind in {"missing", "minus one"}:
        open_run(run)
        return
    with pytest.raises(DataError, match=rf"records.parquet: field '{column}': "):
        open_run(run)


def test_a_summary_with_every_kind_of_wrong_value(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "a", [10], [0], [1.0], scenario={"study": {"warmup": 0.5}, "policy": {}}
    )
    path, count = run / "summary.json", 0
    summary = json.loads(path.read_text()) | {"server": {"utilisation": 0.5}, "marks": ["m"]}
    for name, raw in copies(summary):
        path.write_bytes(raw)
        count += refused(lambda: open_run(run), path, name)
    assert count > 80


def test_unknown_fields_of_a_newer_version_are_let_through(tmp_path: Path) -> None:
    document = capacity_document() | {"further": {"a": 1}}
    (tmp_path / "capacity.json").write_text(json.dumps(document))
    assert read_result(tmp_path)[1]["further"] == {"a": 1}


def test_a_command_says_file_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from reports.commands.report import ReportAgainCommand

    document = capacity_document()
    document["answers"][1]["trials"][0]["value"] = "high"
    (tmp_path / "capacity.json").write_text(json.dumps(document))
    assert exit_code(ReportAgainCommand(folder=tmp_path).run) == 3
    line = capsys.readouterr().err
    assert "capacity.json: field 'answers[1].trials[0].value': expected a number, found str" in line
    assert line.count("\n") == 1
    assert not (tmp_path / "capacity.html").exists()
