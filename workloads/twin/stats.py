"""The statistics of a trace from which a twin is generated, and their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from simulator.base.errors import DataError
from simulator.base.files import write_text
from simulator.base.json_file import read_json
from workloads.reading.files import open_file
from workloads.twin.boxes import Boxes
from workloads.twin.meetings import Meeting

Format = Literal["milepost-twin"]
FORMAT: Format = "milepost-twin"
PEEKED_BYTES = 256
SLICES = 64  # equal parts of a trace, by number of requests
MOST_REQUESTS = 1_000_000
MOST_LABELS = 8
Session = Literal["none", "new", "source's", "other"]
SESSIONS: tuple[Session, ...] = ("none", "new", "source's", "other")
COLUMNS = ("slice", "distance", "depth", "own", "fresh", "beyond", "new", "output")
GAP_COLUMNS = ("slice", "requests", "ticks")

Value = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Means = Annotated[tuple[Value, ...], msgspec.Meta(max_length=len(COLUMNS))]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
Bounds = Annotated[tuple[Tokens, ...], msgspec.Meta(max_length=len(COLUMNS))]
Index = Annotated[int, msgspec.Meta(ge=0, lt=1 << 20)]


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of rows of one kind: their number, and the bounds and mean of each column."""

    kind: Index
    rows: Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
    low: Bounds
    mean: Means
    high: Bounds


class RequestKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of requests: those with the same categorical properties.

    Parameters
    ----------
    meeting, session
        One of `meetings.MEETINGS`, and one of `SESSIONS`.
    label
        Index into the labels, -1 for none.
    answered
        Share of the requests whose answer is known.
    """

    meeting: Meeting
    session: Session
    label: Annotated[int, msgspec.Meta(ge=-1, le=MOST_LABELS)]
    answered: Share


class ArrivalInstants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Number of requests at each instant, and ticks to the next instant; columns `GAP_COLUMNS`."""

    tick_seconds: Annotated[float, msgspec.Meta(gt=0, le=1e6)]
    boxes: Annotated[tuple[Box, ...], msgspec.Meta(min_length=1, max_length=1024)]


class TwinStats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The statistics of a trace, as in their file; columns of the boxes are `COLUMNS`.

    Parameters
    ----------
    requests
        Number of requests of the original.
    granularity
        Tokens per block to which overlaps are known.
    scale_tokens
        The mean prompt length; differences between distances far below it do not matter.
    labels
        Names of labels.
    kinds, boxes
        The kinds of requests, and the boxes of each.
    arrivals
        Statistics of the arrivals; None if the original has no times.
    """

    format: Format
    version: Literal[1]
    requests: Annotated[int, msgspec.Meta(ge=1, le=MOST_REQUESTS)]
    granularity: Annotated[int, msgspec.Meta(ge=1, le=1 << 30)]
    scale_tokens: Annotated[float, msgspec.Meta(ge=1, le=1e12)]
    labels: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_LABELS + 1)]
    kinds: Annotated[tuple[RequestKind, ...], msgspec.Meta(min_length=1, max_length=1024)]
    boxes: Annotated[tuple[Box, ...], msgspec.Meta(min_length=1, max_length=1024)]
    arrivals: ArrivalInstants | None


def write_stats(stats: TwinStats, path: Path) -> None:
    """Write statistics as JSON; the same statistics give the same bytes.

    Raises
    ------
    UsageError
        For a file that cannot be written.
    """
    write_text(path, _text(stats))


def _text(stats: TwinStats) -> str:
    """Return JSON with a line for each box."""
    text = json.dumps(msgspec.to_builtins(stats))
    for start in ('"kinds": ', '"boxes": ', '"arrivals": ', '{"kind": ', '{"meeting": '):
        text = text.replace(start, f"\n{start}")
    return f"{text}\n"


def read_stats(path: Path) -> TwinStats:
    """Read and validate statistics.

    Raises
    ------
    DataError
        For a file that cannot be read, or an invalid field.
    """
    plain = read_json(path, "statistics of a trace")
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise DataError(str(path), f"expected statistics of a trace (format {FORMAT})")
    try:
        stats = msgspec.convert(plain, TwinStats, strict=True)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at ")
        raise DataError(str(path), problem, field=where.strip("`$.") or None) from None
    fault = _problem(stats)
    if fault is not None:
        raise DataError(str(path), fault[1], field=fault[0])
    return stats


def _problem(stats: TwinStats) -> tuple[str, str] | None:
    """Return a field that contradicts another, and a message; None if there is none."""
    for at, kind in enumerate(stats.kinds):
        if kind.label >= len(stats.labels):
            expected = f"expected less than {len(stats.labels)}, found {kind.label}"
            return f"kinds[{at}].label", expected
        if kind.meeting == "cold" and kind.session == "source's":
            return f"kinds[{at}].session", "a cold request has no source"
    fault = _boxes_problem("boxes", stats.boxes, COLUMNS, len(stats.kinds))
    if fault is None and stats.arrivals is not None:
        fault = _boxes_problem("arrivals.boxes", stats.arrivals.boxes, GAP_COLUMNS, 1)
    return fault


def _boxes_problem(
    name: str, boxes: tuple[Box, ...], columns: tuple[str, ...], kinds: int
) -> tuple[str, str] | None:
    for at, box in enumerate(boxes):
        fault = _box_problem(box, columns, kinds)
        if fault is not None:
            return f"{name}[{at}].{fault[0]}", fault[1]
    return None


def _box_problem(box: Box, columns: tuple[str, ...], kinds: int) -> tuple[str, str] | None:
    if box.kind >= kinds:
        return "kind", f"expected less than {kinds}, found {box.kind}"
    for name in ("low", "mean", "high"):
        count = len(getattr(box, name))
        if count != len(columns):
            return name, f"expected {len(columns)} numbers ({', '.join(columns)}), found {count}"
    for column, low, mean, high in zip(columns, box.low, box.mean, box.high, strict=True):
        if not low <= mean <= high:
            return "mean", f"expected {column} from {low:g} to {high:g}, found {mean:g}"
    if box.high[0] >= SLICES:
        return "high", f"expected a slice below {SLICES}, found {box.high[0]:g}"
    return None


def as_boxes(boxes: tuple[Box, ...]) -> Boxes:
    """Return boxes as columns."""
    return Boxes(
        group=np.array([box.kind for box in boxes], dtype=np.int64),
        rows=np.array([box.rows for box in boxes], dtype=np.int64),
        low=np.array([box.low for box in boxes], dtype=np.float64),
        mean=np.array([box.mean for box in boxes], dtype=np.float64),
        high=np.array([box.high for box in boxes], dtype=np.float64),
    )


def from_boxes(boxes: Boxes) -> tuple[Box, ...]:
    """Return columns as boxes."""
    bounds = (boxes.low.astype(np.int64), boxes.mean, boxes.high.astype(np.int64))
    columns = (column.tolist() for column in (boxes.group, boxes.rows, *bounds))
    return tuple(
        Box(kind, rows, tuple(low), tuple(mean), tuple(high))
        for kind, rows, low, mean, high in zip(*columns, strict=True)
    )


def is_stats(path: Path) -> bool:
    """Return whether a file begins like one with statistics of a trace."""
    if path.is_dir():
        return False
    with open_file(path) as file:
        return f'"{FORMAT}"'.encode() in file.peek(PEEKED_BYTES)[:PEEKED_BYTES]
