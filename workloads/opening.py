"""Opening a trace of any format by its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulator.base.errors import DataError, SettingError, did_you_mean, printable
from simulator.trace.trace import Trace
from workloads.options import ReadOptions
from workloads.reading.files import trace_name
from workloads.reading.head import read_head
from workloads.reading.parquet import MAGIC, is_parquet, parquet_metadata
from workloads.rows import Rows, to_trace, with_jitter
from workloads.store import METADATA_KEY, load
from workloads.time_units import note_doubt


def open_trace(path: str | Path, *, format: str | None = None, **options: Any) -> Trace:
    """Open a saved trace (Parquet) or import one from another format.

    Parameters
    ----------
    path
        The file or folder. Parquet and gzip are recognised by content.
    format
        A name in `workloads.formats.FORMATS`; None to recognise it by the file's content.
    options
        Those of `workloads.options.ReadOptions`; a saved trace uses `jitter` only.

    Raises
    ------
    UsageError
        For an argument out of range, or an option that the format does not have.
    DataError
        For a file that cannot be read, is invalid or has no known format.
    """
    return open_named(path, format=format, **options)[0]


def open_named(
    path: str | Path, *, format: str | None = None, **options: Any
) -> tuple[Trace, dict[int, str]]:
    """Open a trace as `open_trace` does; return also the names of its sessions by number.

    A saved trace has no names.
    """
    path = Path(path)
    chosen = ReadOptions(**options)
    if is_saved(path):
        refuse_isolation(chosen)
        return with_jitter(load(path), chosen.jitter), {}
    rows = read_rows(path, chosen, format)
    if not len(rows) and rows.first_bad is not None:
        raise rows.first_bad
    names = {number: str(name) for name, number in rows.sessions.items()}
    return to_trace(rows, trace_name(path), chosen.jitter), names


def is_saved(path: Path) -> bool:
    """Return whether a file is a saved trace: Parquet with our metadata key, or damaged Parquet.

    Damaged files count, since loading one reports what is wrong with it.
    """
    if path.is_dir() or not is_parquet(path):
        return False
    metadata = parquet_metadata(path)
    return metadata is None or METADATA_KEY in metadata


def refuse_isolation(options: ReadOptions) -> None:
    """Raise `SettingError` for the option `isolate` on a saved trace, which has no such keys."""
    if options.isolate is not None:
        raise SettingError(
            "isolate",
            "a saved trace keeps prefixes apart as at its import: convert its source again",
        )


def renders_messages(path: Path, format: str | None = None) -> bool:
    """Return whether reading a file renders messages; errors are those of `format_of`."""
    from workloads.formats import FORMATS

    if format is None and is_saved(path):
        return False
    name = format_of(path) if format is None else format
    return name in FORMATS and "template" in FORMATS[name].options


def read_rows(path: Path, options: ReadOptions, format: str | None = None) -> Rows:
    """Read the rows of a file that is not a saved trace; errors are those of `open_trace`."""
    from workloads.formats import FORMATS

    name = format_of(path) if format is None else format
    if name not in FORMATS:
        shown = printable(name, 40)
        known = did_you_mean(shown, list(FORMATS))
        raise SettingError("format", f"unknown trace format '{shown}'{known}")
    options.refuse_unknown(name, FORMATS[name].options)
    rows = FORMATS[name].read(path, options)
    rows.known_options = FORMATS[name].options
    note_doubt(rows)
    rows.isolation.kept = options.isolated
    rows.unused.forget(FORMATS[name].not_needed)
    return rows


def format_of(path: Path) -> str:
    """Return the name of the format of a file.

    Raises
    ------
    DataError
        For a file that cannot be read or has no known format.
    """
    from workloads.formats import FORMATS
    from workloads.recognition import description

    head = read_head(path)
    if not head.names and not head.text.strip():
        raise DataError(str(path), "expected a trace, found an empty file")
    for name, format in FORMATS.items():
        if format.matches(head):
            return name
    what = "another Parquet file than a saved trace; it " if head.text == MAGIC else ""
    known = f"; --format names one of {', '.join(FORMATS)}"
    unlike = f"{what}looks like no known trace format{description(head, FORMATS)}"
    raise DataError(str(path), unlike + known)
