"""Overlap histograms in files: columns `depth` and `weight` in CSV, Parquet or JSON."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import DataError, printable

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

DEEPEST = 2**53
PARQUET = b"PAR1"
EXPECTED = "expected the columns depth and weight"


@dataclass(frozen=True, slots=True, eq=False)
class DepthLaw:
    """A law of overlap depths: the distribution of the tokens a prompt shares with earlier ones.

    Parameters
    ----------
    name
        The name of the law.
    depths
        int64, shape (S,): ascending, unique, at least 1.
    weights
        float64, shape (S,): finite, positive, as in the file.
    misses
        Weight of depth 0.
    in_order
        int64: the overlap of each request, in the order of arrival; None where unknown.
    notes
        Remarks for the reader of a report.
    """

    name: str
    depths: NDArray[np.int64]
    weights: NDArray[np.float64]
    misses: float
    in_order: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Weight of all requests, misses included."""
        return math.fsum((*self.weights.tolist(), self.misses))

    @property
    def samples(self) -> int | None:
        """The number of requests, where the weights are counts; else None."""
        whole = (self.weights % 1 == 0).all() and self.misses % 1 == 0
        return int(self.total) if whole and self.total >= 2 else None

    def cut_at(self, length: int) -> DepthLaw:
        """Return the law in a prompt of `length` tokens: deeper overlaps count as that."""
        beyond = self.depths > length
        if not beyond.any():
            return self
        weight = float(self.weights[beyond].sum())
        note = (
            f"{weight / self.total:.2%} of the weight lies beyond the prompt of {length:,} tokens "
            "and counts as its length"
        )
        in_order = None if self.in_order is None else np.minimum(self.in_order, length)
        cut = law_of(self.name, np.minimum(self.depths, length), self.weights, self.misses)
        return replace(cut, in_order=in_order, notes=(*self.notes, note))


def law_of(
    name: str, depths: NDArray[np.int64], weights: NDArray[np.float64], misses: float = 0.0
) -> DepthLaw:
    """Return the law of depths in any order; equal depths are added up, depth 0 is a miss."""
    unique, index = np.unique(depths, return_inverse=True)
    summed = np.bincount(index, weights, minlength=len(unique))
    hit = (unique > 0) & (summed > 0)
    missed = float(summed[unique == 0].sum()) + misses
    return DepthLaw(name, unique[hit], summed[hit].astype(np.float64), missed)


def law_of_requests(trace: Trace) -> DepthLaw:
    """Return the law of overlaps: what each request of a trace shares with its best earlier match.

    Depths are counted in tokens from the start of the prompt and pooled over all prompts; the last
    token of a prompt is never saved.
    """
    from workloads.inspection import overlaps

    depths = np.minimum(overlaps(trace), trace.prompt_tokens - 1)
    law = law_of(trace.name, depths, np.ones(len(depths)))
    note = "depths of all prompts are pooled into one law, counted from the start"
    return replace(law, in_order=depths, notes=(*trace.notes, note))


def read_law(path: Path) -> DepthLaw:
    """Read a histogram: columns `depth` and `weight` (1 where that column is absent).

    JSON is {"depth": [...], "weight": [...]} or a list of objects with these keys, one a row.

    Raises
    ------
    DataError
        Where the file cannot be read, a value is not a number in range, or all weights are 0.
    """
    rows = _rows(path)
    source = str(path)
    depths = [_depth(source, line, value) for line, value, _ in rows]
    weights = [_weight(source, line, value) for line, _, value in rows]
    with np.errstate(over="ignore"):
        total = float(np.array(weights, np.float64).sum())
    if not total > 0:
        raise DataError(source, "expected weight at some depth, found none")
    if not math.isfinite(total * max(1, *depths)):
        raise DataError(source, "expected weights whose sum is finite", field="weight")
    return law_of(path.stem, np.array(depths, np.int64), np.array(weights, np.float64))


Row = tuple[int | None, Any, Any]  # line or None, depth, weight


def _rows(path: Path) -> list[Row]:
    from workloads.reading.files import open_file

    with open_file(path) as file:
        head = file.read(4)
    if head == PARQUET or path.suffix == ".parquet":
        return _parquet_rows(path)
    if path.suffix == ".json":
        return _json_rows(path)
    return list(_csv_rows(path))


def _csv_rows(path: Path) -> Iterable[Row]:
    from workloads.reading.reader import read_lines

    source, columns = str(path), None
    for line, data in read_lines(path):
        try:
            (cells,) = csv.reader([data.decode()], strict=True)
        except (UnicodeDecodeError, csv.Error, ValueError):
            raise DataError(source, "expected a line of CSV in UTF-8", line=line) from None
        cells = [cell.strip() for cell in cells]
        if columns is None:
            columns = _columns(source, cells, line)
            continue
        if len(cells) <= max(column for column in columns if column is not None):
            raise DataError(source, f"{EXPECTED}, found {len(cells)} fields", line=line)
        depth, weight = columns
        yield line, cells[depth], 1 if weight is None else cells[weight]


def _columns(source: str, names: Sequence[str], line: int | None) -> tuple[int, int | None]:
    """Return the indices of the columns of depth and weight (None where absent)."""
    names = [name.lower() for name in names]
    if "depth" not in names:
        shown = printable(", ".join(names), 60)
        raise DataError(source, f"{EXPECTED}, found '{shown}'", line=line)
    return names.index("depth"), names.index("weight") if "weight" in names else None


def _parquet_rows(path: Path) -> list[Row]:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except Exception as error:  # polars has many exception types
        reason = printable(str(error).partition("\n")[0], 80)
        raise DataError(str(path), f"not a Parquet file: {reason}") from None
    depth, weight = _columns(str(path), frame.columns, None)
    depths = frame[frame.columns[depth]].to_list()
    weights = [1] * len(depths) if weight is None else frame[frame.columns[weight]].to_list()
    return [(None, d, w) for d, w in zip(depths, weights, strict=True)]


def _json_rows(path: Path) -> list[Row]:
    from simulator.base.json_file import read_json

    data = read_json(path, "a histogram")
    if isinstance(data, dict):
        _columns(str(path), [*map(str, data)], None)
        depths = data.get("depth")
        weights = data.get("weight", [1] * len(depths) if isinstance(depths, list) else None)
        if not (isinstance(depths, list) and isinstance(weights, list)):
            raise DataError(str(path), "expected lists of numbers for depth and weight")
        if len(depths) != len(weights):
            problem = f"expected as many weights as depths, found {len(weights)} and {len(depths)}"
            raise DataError(str(path), problem)
        return [(None, d, w) for d, w in zip(depths, weights, strict=True)]
    if isinstance(data, list) and all(isinstance(row, dict) and "depth" in row for row in data):
        return [(None, row["depth"], row.get("weight", 1)) for row in data]
    raise DataError(str(path), "expected a list of objects with depth and weight")


def _depth(source: str, line: int | None, value: object) -> int:
    number = _number(value)
    if not 0 <= number <= DEEPEST or number % 1:
        problem = f"expected a whole number of tokens, 0 or more, found {_shown(value)}"
        raise DataError(source, problem, line=line, field="depth")
    return int(number)


def _weight(source: str, line: int | None, value: object) -> float:
    number = _number(value)
    if not 0 <= number < math.inf:
        problem = f"expected a finite number, 0 or more, found {_shown(value)}"
        raise DataError(source, problem, line=line, field="weight")
    return number


def _number(value: object) -> float:
    """Return a value as a number, or NaN where it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _shown(value: object) -> str:
    return f"'{printable(str(value)[:60], 40)}'"
