"""Comparison of two result folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports.compare.cells import Sweep, compare_cells, open_sweep
from reports.compare.figures import UNITS, Unit, parts_of
from reports.compare.measures import USUAL, Measure, measures_named
from reports.compare.outcome import USUAL_MARGINS, BothTokens, Change, TwoRuns, judged
from reports.compare.requests import common_requests, compared_figures
from reports.compare.run_folder import Columns, Run, open_run
from reports.results.evidence import finished
from reports.results.margins import Margins
from reports.results.metrics import load_of_row
from reports.results.overload import grown_words, load_words
from simulator.base.errors import UsageError, printable
from simulator.results.records import LOSSES


def compare_folders(
    a: str | Path,
    b: str | Path,
    *,
    measures: Sequence[str] = USUAL,
    paired: bool = True,
    unit: Unit | None = None,
    margins: Margins = USUAL_MARGINS,
) -> TwoRuns:
    """Compare two folders, both of `run --out` or both of `sweep`, by the differences B - A.

    Parameters
    ----------
    a, b
        The folders.
    measures
        Names in `MEASURES`. Each adds one comparison to Holm's correction.
    paired
        Take differences of the same requests; otherwise of two samples that share nothing.
    unit
        For two runs, the unit of resampling: "time", "sessions" or "documents". With None, each
        figure uses the unit that gives the widest interval.
    margins
        The margins within which figures count as tied.

    Raises
    ------
    UsageError
        When a folder holds neither, the two cannot be compared, or have not replayed the same
        requests and are to be paired.
    DataError
        When a file is damaged or was written by a newer version.
    """
    chosen = measures_named(measures, "measures")
    folders = Path(a), Path(b)
    kinds = [_kind(folder) for folder in folders]
    if kinds[0] != kinds[1]:
        shown = (f"{printable(str(f))} of a {k}" for f, k in zip(folders, kinds, strict=True))
        raise UsageError(f"expected two folders of one kind, found {' and '.join(shown)}")
    if kinds[0] == "run":
        runs = open_run(folders[0]), open_run(folders[1])
        return judged(_runs(*runs, chosen, paired, unit), margins)
    if unit is not None:
        raise UsageError("a unit to draw again is for two runs: a sweep keeps no requests")
    return judged(_sweeps(open_sweep(folders[0]), open_sweep(folders[1]), chosen, paired), margins)


def _kind(folder: Path) -> str:
    if (folder / "cells.parquet").exists() or (folder / "manifest.json").exists():
        return "sweep"
    if (folder / "records.parquet").exists() or (folder / "summary.json").exists():
        return "run"
    raise UsageError(
        f"{printable(str(folder))}: expected the folder of a run (records.parquet) or of a sweep "
        "(cells.parquet)"
    )


def _runs(a: Run, b: Run, measures: Sequence[Measure], paired: bool, unit: Unit | None) -> TwoRuns:
    ours, theirs = common_requests(a, b) if paired else (a.counted(), b.counted())
    units = UNITS if unit is None else (unit,)
    for run, columns in ((a, ours), (b, theirs)):
        if unit is not None and parts_of(columns, unit) is None:
            raise UsageError(f"{printable(run.folder)}: tells no {unit} for its requests")
    figures = compared_figures(ours, theirs, units, measures, paired=paired)
    lost = {
        loss: BothTokens(*(int(side[f"lost_{loss}_tokens"].sum()) for side in (ours, theirs)))
        for loss in LOSSES
    }
    return TwoRuns(
        kind="run",
        a=a.folder,
        b=b.folder,
        paired=paired,
        changes=_changes(a.facts, b.facts),
        comparisons=tuple(figures),
        requests=_moved(ours, theirs) if paired else {},
        lost=lost,
        notes=(
            *(_left_out(a, b, len(ours["request"])) if paired else ()),
            *_overloaded(a, b),
            *_marked({"A": [a.marks], "B": [b.marks]}),
        ),
    )


def _overloaded(a: Run, b: Run) -> list[str]:
    """Return the load of both servers, where the queue of one grows."""
    grown = [name for name, run in (("A", a), ("B", b)) if run.load.get("queue_grows")]
    if not grown:
        return []
    loads = "; ".join(f"{name}: {load_words(run.load)}" for name, run in (("A", a), ("B", b)))
    return [
        f"the queue of {' and of '.join(grown)} grows to the end of the trace, so times to first "
        f"token tell how long the trace is ({loads})"
    ]


def _sweeps(a: Sweep, b: Sweep, measures: Sequence[Measure], paired: bool) -> TwoRuns:
    figures, notes = compare_cells(a, b, measures, paired=paired)
    for name, side in (("A", a), ("B", b)):
        warning = grown_words([load_of_row(row.get) for row in finished(side.rows)])
        notes += [] if warning is None else [f"{name}: {warning}"]
    return TwoRuns(
        kind="sweep",
        a=a.folder,
        b=b.folder,
        paired=paired,
        changes=_changes(a.facts, b.facts),
        comparisons=tuple(figures),
        requests={},
        lost={},
        notes=(*_marked({"A": a.marks, "B": b.marks}), *notes),
    )


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the keys that differ, in the order of A, then what only B has."""
    values = ((key, a.get(key), b.get(key)) for key in dict.fromkeys([*a, *b]))
    return tuple(Change(*each) for each in values if each[1] != each[2])


def _moved(a: Columns, b: Columns) -> dict[str, int]:
    """Count the requests that save more, less and the same in B."""
    sense = np.sign(b["saved_tokens"] - a["saved_tokens"])
    names = {"more": 1, "less": -1, "the same": 0}
    return {name: int((sense == sign).sum()) for name, sign in names.items()}


def _marked(marks: Mapping[str, Iterable[Sequence[str]]]) -> list[str]:
    """Return a note for each side whose policies are bounds or know future requests."""
    sides = {side: sorted({mark for each in rows for mark in each}) for side, rows in marks.items()}
    return [
        f"{side} has policies with a mark ({', '.join(names)}): no real system can do what they do"
        for side, names in sides.items()
        if names
    ]


def _left_out(a: Run, b: Run, common: int) -> list[str]:
    counted = {name: len(run.counted()["request"]) for name, run in (("A", a), ("B", b))}
    return [
        f"{count - common:,} of {count:,} requests that count in {name} do not in the other, and "
        "are left out"
        for name, count in counted.items()
        if count > common
    ]
