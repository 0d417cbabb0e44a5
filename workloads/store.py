"""Saved traces: a trace as one Parquet file.

Two tables share the file's rows, the shorter one padded with nulls: nodes (`parent`, `stop`) and
requests (`leaf`, `output_tokens`, `session`, `label` and, where known, `arrival_seconds` and
`after`). Everything else is JSON in the file's metadata.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from simulator.base.errors import DataError, printable
from simulator.base.files import whole_file
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from workloads.reading.files import open_file

if TYPE_CHECKING:
    import polars as pl

FORMAT = "milepost-trace"
VERSION = 1
METADATA_KEY = "milepost"

_NODES = {"parent": "int32", "stop": "int64"}
_REQUESTS = {"leaf": "int32", "output_tokens": "int64", "session": "int32", "label": "int32"}
_TIMES = {"arrival_seconds": "float64"}
_ANSWERS = {"after": "int32"}

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    name: str
    granularity: Annotated[int, msgspec.Meta(ge=1)]
    nodes: Count
    requests: Count
    has_arrivals: bool
    has_answers: bool
    labels: tuple[str, ...]
    notes: tuple[str, ...]


def save(trace: Trace, path: str | Path) -> None:
    """Write a trace; the same trace always gives the same bytes.

    Raises
    ------
    UsageError
        For a file that cannot be written; no partial file remains.
    """
    import polars as pl

    height = max(trace.tree.nodes, len(trace))
    frame = pl.DataFrame(
        [
            pl.Series(name, column).extend_constant(None, height - len(column))
            for name, column in _columns(trace).items()
        ]
    )
    header = {METADATA_KEY: msgspec.json.encode(_header(trace)).decode()}
    with whole_file(Path(path)) as temporary:
        try:
            with temporary.open("wb") as file:
                frame.write_parquet(file, metadata=header)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            match = re.search(r"IO error: (.*) \(os error", str(error))
            raise OSError(match[1].lower() if match else str(error)) from None


def _columns(trace: Trace) -> dict[str, Any]:
    columns = {
        "parent": trace.tree.parent,
        "stop": trace.tree.stop,
        "leaf": trace.leaf,
        "output_tokens": trace.output_tokens,
        "session": trace.session,
        "label": trace.label,
    }
    if trace.arrival_seconds is not None:
        columns["arrival_seconds"] = trace.arrival_seconds
    if trace.after is not None:
        columns["after"] = trace.after
    return columns


def _header(trace: Trace) -> _Header:
    return _Header(
        format=FORMAT,
        version=VERSION,
        name=trace.name,
        granularity=trace.granularity,
        nodes=trace.tree.nodes,
        requests=len(trace),
        has_arrivals=trace.arrival_seconds is not None,
        has_answers=trace.after is not None,
        labels=trace.labels,
        notes=trace.notes,
    )


def load(path: str | Path) -> Trace:
    """Read a saved trace.

    Raises
    ------
    DataError
        For a file that is damaged, holds something else or comes from a newer version.
    """
    import polars as pl

    path = Path(path)
    open_file(path).close()
    if os.fsencode(path).decode(errors="replace") != str(path):
        raise DataError(str(path), "expected a file name in UTF-8, which Parquet needs")
    try:
        header = _checked_header(path, pl.read_parquet_metadata(path))
        columns = _read(path, header)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(str(path), f"is not a sound Parquet file: {reason}") from None
    trace = _assemble(header, columns)
    problem = trace.problem() or _label_problem(trace)
    if problem is not None:
        raise DataError(str(path), problem)
    return trace


def _checked_header(path: Path, metadata: dict[str, str]) -> _Header:
    foreign = f"expected a saved trace (format {FORMAT}), found another Parquet file"
    if METADATA_KEY not in metadata:
        raise DataError(str(path), foreign)
    try:
        plain = msgspec.json.decode(metadata[METADATA_KEY])
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise DataError(str(path), foreign)
        if plain.get("version") != VERSION:
            raise DataError(str(path), _version_problem(plain.get("version")))
        return msgspec.convert(plain, _Header, strict=True)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(str(path), f"the metadata of the saved trace is damaged: {error}") from None


def _version_problem(version: Any) -> str:
    problem = f"expected version {VERSION} of a saved trace, found {printable(repr(version), 40)}"
    if isinstance(version, int) and version > VERSION:
        problem += ", which a newer Milepost has written: update, or convert the source again"
    return problem


def _read(path: Path, header: _Header) -> dict[str, Any]:
    """Return the columns as arrays, each cut to the rows of its table."""
    import polars as pl

    requests = _REQUESTS | (_TIMES if header.has_arrivals else {})
    requests |= _ANSWERS if header.has_answers else {}
    columns: dict[str, Any] = {}
    for wanted, rows in ((_NODES, header.nodes), (requests, header.requests)):
        frame = pl.read_parquet(
            path, columns=list(wanted), n_rows=rows, glob=False, hive_partitioning=False
        )
        for name, dtype in wanted.items():
            column = frame[name]
            if len(column) != rows:
                raise DataError(str(path), f"expected {rows} rows, found {len(column)}", field=name)
            columns[name] = _array(path, column, dtype)
    return columns


def _array(path: Path, column: pl.Series, dtype: str) -> Any:
    if column.null_count():
        raise DataError(str(path), "expected a value in every row, found none", field=column.name)
    values = column.to_numpy()
    if values.dtype != dtype:
        problem = f"expected {dtype}, found {values.dtype}"
        raise DataError(str(path), problem, field=column.name)
    return values


def _assemble(header: _Header, columns: dict[str, Any]) -> Trace:
    parent, stop = columns["parent"], columns["stop"]
    start = np.where(parent >= 0, stop[np.clip(parent, 0, len(stop) - 1)], 0)
    return Trace(
        name=header.name,
        tree=PrefixTree(parent, start, stop),
        leaf=columns["leaf"],
        arrival_seconds=columns.get("arrival_seconds"),
        output_tokens=columns["output_tokens"],
        session=columns["session"],
        label=columns["label"],
        labels=header.labels,
        granularity=header.granularity,
        after=columns.get("after"),
        notes=header.notes,
    )


def _label_problem(trace: Trace) -> str | None:
    if len(trace) and not -1 <= trace.label.min() <= trace.label.max() < len(trace.labels):
        return "a request has a label that the trace does not name"
    if len(trace) and trace.output_tokens.min() < 0:
        return "a request has a negative number of output tokens"
    return None
