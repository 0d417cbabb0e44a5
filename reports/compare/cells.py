"""Two sweeps compared cell by cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.artifacts.writing import PLAIN_COLUMNS, read_artifacts
from reports.compare.measures import Measure
from reports.compare.outcome import Compared
from reports.results.evidence import Row, difference, estimate, finished
from reports.results.marks import marks_in
from reports.statistics import Estimate, independent_difference
from reports.study.renamed import current, current_key
from reports.study.settings import flatten
from simulator.base.errors import DataError, UsageError, printable

_NOT_COMPARED = ("command", "failed", "title", "trace.notes")


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """A sweep, read back."""

    folder: str  # as the user named it
    facts: dict[str, Any]  # the manifest: dotted key -> value
    grid: tuple[str, ...]  # the keys that its cells differ in
    rows: tuple[Row, ...]

    @property
    def marks(self) -> list[tuple[str, ...]]:
        """The marks of the policies of each cell."""
        return [marks_in(row) for row in self.rows]

    @property
    def deterministic(self) -> bool:
        """Whether nothing depends on the seed."""
        return bool(self.facts.get("trace.deterministic"))

    def points(self, keys: Sequence[str]) -> dict[str, list[Row]]:
        """Return the cells by their values of `keys`, which hold the grid's, as JSON."""
        rows_by_place: dict[str, list[Row]] = {}
        for row in self.rows:
            place = {key: self._value(row, key) for key in keys}
            rows_by_place.setdefault(json.dumps(place, default=str), []).append(row)
        return rows_by_place

    def _value(self, row: Row, key: str) -> Any:
        column = PLAIN_COLUMNS.get(key, key)
        value = row[column] if column in row else self.facts.get(f"study.{key}")
        if isinstance(value, float) and value.is_integer():
            return int(value)  # 5 in a grid is 5.0 as a setting
        return value


def open_sweep(folder: Path) -> Sweep:
    """Read the folder of a sweep; errors are those of `read_artifacts`."""
    cells, manifest = read_artifacts(folder)
    for name in ("replication", "seed"):
        if name not in cells.columns:
            raise DataError(str(folder / "cells.parquet"), "missing", field=name)
    facts = current({k: v for k, v in flatten(manifest) if k not in _NOT_COMPARED})
    rows = (current(row) | {"finished_share": _finished(row)} for row in cells.rows(named=True))
    return Sweep(str(folder), facts, tuple(map(current_key, manifest["grid"])), tuple(rows))


def compare_cells(
    a: Sweep, b: Sweep, measures: Sequence[Measure], *, paired: bool
) -> tuple[list[Compared], list[str]]:
    """Return each measure of every cell that both have, and what was left out.

    Raises
    ------
    UsageError
        When cells are to be paired and their traces differ, or no cell is in both.
    """
    if paired:
        _refuse_other_traces(a, b)
    keys = tuple(dict.fromkeys([*a.grid, *b.grid]))
    ours, theirs = a.points(keys), b.points(keys)
    common = [place for place in ours if place in theirs]
    if not common:
        raise UsageError(
            f"{printable(a.folder)} and {printable(b.folder)}: no cell is in both (the grids vary "
            f"{printable(', '.join(keys))})"
        )
    figures: list[Compared] = []
    failed = 0
    for place in common:
        mine, others = finished(ours[place]), finished(theirs[place])
        failed += len(ours[place]) - len(mine) + len(theirs[place]) - len(others)
        if paired:
            _refuse_other_requests(a, b, mine, others)
        sides = (a, mine), (b, others)
        figures += [_compared(json.loads(place), *sides, measure, paired) for measure in measures]
    return figures, _left_out(len(ours) - len(common), len(theirs) - len(common), failed)


Side = tuple[Sweep, Sequence[Row]]


def _finished(row: Row) -> float | None:
    total = row.get("requests_total")
    return row["requests_finished"] / total if total else None


def _compared(
    place: Mapping[str, Any], a: Side, b: Side, measure: Measure, paired: bool
) -> Compared:
    ours, theirs = _estimate(a, measure), _estimate(b, measure)
    if ours is None or theirs is None:
        values = [None if side is None else side.value for side in (ours, theirs)]
        return Compared.of(place, measure, values[0], values[1], None)
    apart: Estimate | None = independent_difference(theirs, ours)
    if paired:
        deterministic = a[0].deterministic and b[0].deterministic
        apart = difference(b[1], a[1], measure.metric, deterministic)
    return Compared.of(place, measure, ours.value, theirs.value, apart)


def _estimate(side: Side, measure: Measure) -> Estimate | None:
    return estimate(side[1], measure.metric, side[0].deterministic)


def _refuse_other_traces(a: Sweep, b: Sweep) -> None:
    """Refuse sweeps of different trace files, or of differently generated workloads."""
    varied = {f"study.{key}" for key in (*a.grid, *b.grid)} | {"study.workload.trace"}
    keys = [
        key
        for key in dict.fromkeys([*a.facts, *b.facts])
        if key.startswith("study.workload.") and key not in varied
    ]
    hashes = _hashes(a), _hashes(b)
    common = hashes[0].keys() & hashes[1].keys()  # none where only one varies its workload
    generated = not any(hashes[0].values()) and not any(hashes[1].values())
    other = any(hashes[0][name] != hashes[1][name] for name in common)
    if other or (generated and any(a.facts.get(k) != b.facts.get(k) for k in keys)):
        raise _other_traces(a, b)


def _hashes(sweep: Sweep) -> dict[str, Any]:
    """Return the hash of each trace file by its key; None for what is generated."""
    several = {k: v for k, v in sweep.facts.items() if k.startswith("workloads.")}
    hashed = several or {"trace.sha256": sweep.facts.get("trace.sha256")}
    return {key: value for key, value in hashed.items() if key.endswith(".sha256")}


def _refuse_other_requests(a: Sweep, b: Sweep, ours: Sequence[Row], theirs: Sequence[Row]) -> None:
    """Refuse cells of one replication that count other requests: other seeds, another warm-up."""
    others = {row["replication"]: row for row in theirs}
    for row in ours:
        other = others.get(row["replication"])
        same = ("seed", "block_prompt_tokens")
        if other is not None and any(row.get(key) != other.get(key) for key in same):
            raise _other_traces(a, b)


def _other_traces(a: Sweep, b: Sweep) -> UsageError:
    return UsageError(
        f"{printable(a.folder)} and {printable(b.folder)} replayed different requests (trace, "
        "workload, seeds or warm-up), so nothing can be paired; --unpaired compares them as two "
        "samples"
    )


def _left_out(only_a: int, only_b: int, failed: int) -> list[str]:
    counts = {
        "points of the grid are in A only, and left out": only_a,
        "points of the grid are in B only, and left out": only_b,
        "cells failed and are left out": failed,
    }
    return [f"{count} {what}" for what, count in counts.items() if count]
