"""A path in, a trace out, whatever its format."""

from __future__ import annotations

from pathlib import Path

from simulator.errors import UsageError, did_you_mean
from simulator.trace import Trace
from workloads.files import open_file, trace_name
from workloads.rows import OnBadLine, Rows, to_trace
from workloads.store import MAGIC, load

MAX_BLOCK_TOKENS = 1 << 30
DEFAULT_FORMAT = "mooncake"


def open_trace(
    path: str | Path,
    *,
    block: int | None = None,
    format: str | None = None,
    on_bad_line: OnBadLine = "fail",
) -> Trace:
    """Open a saved trace (Parquet) or import one from another format.

    Parameters
    ----------
    path
        The file. Parquet and gzip are recognised by content.
    block
        Tokens a block, where the file does not tell; None for the format's usual size.
    format
        A name in `workloads.formats.FORMATS`; None for Mooncake-style JSON lines.
    on_bad_line
        Whether a bad line fails the import, or is skipped and noted in the trace.

    Raises
    ------
    UsageError
        For an argument out of range.
    DataError
        For a file that cannot be read or does not hold what it should.
    """
    path = Path(path)
    if is_saved(path):
        return load(path)
    rows = read_rows(path, block=block, format=format, on_bad_line=on_bad_line)
    if not len(rows) and rows.first_bad is not None:
        raise rows.first_bad
    return to_trace(rows, trace_name(path))


def is_saved(path: Path) -> bool:
    """Say whether a file is Parquet, by its first bytes."""
    with open_file(path) as file:
        return file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC


def read_rows(path: Path, *, block: int | None, format: str | None, on_bad_line: OnBadLine) -> Rows:
    """Read a file that is not Parquet; arguments and errors are those of `open_trace`."""
    from workloads.formats import FORMATS

    name = DEFAULT_FORMAT if format is None else format
    if name not in FORMATS:
        raise UsageError(f"unknown trace format '{name}'{did_you_mean(name, list(FORMATS))}")
    if block is not None and not 1 <= block <= MAX_BLOCK_TOKENS:
        raise UsageError(f"block: expected 1 to {MAX_BLOCK_TOKENS} tokens, found {block}")
    if on_bad_line not in {"fail", "skip"}:
        raise UsageError(f"on bad line: expected 'fail' or 'skip', found '{on_bad_line}'")
    return FORMATS[name](path, block, on_bad_line)
