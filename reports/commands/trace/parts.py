"""Functions that `trace slice`, `sample` and `merge` share: ranges, shares, writing the result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.commands.trace.files import print_written, save_trace
from reports.console import print_line
from simulator.base.errors import DataError, UsageError, printable

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

_RANGE = re.compile(r"(-?\d{1,18})?:(-?\d{1,18})?")
_COUNT = re.compile(r"\d{1,18}")


def parse_range(text: str, flag: str) -> tuple[int | None, int | None]:
    """Return start and stop of "1000:5000", ":1000" or "-1000:"; "1000" means ":1000".

    Raises
    ------
    UsageError
        Where the text is not such a range.
    """
    if _COUNT.fullmatch(text):
        return None, int(text)
    match = _RANGE.fullmatch(text)
    if match is None or text == ":":
        expected = "1000 (the first ones), 1000:5000, 1000: or -1000: (the last ones)"
        raise UsageError(f"{flag}: expected a range such as {expected}, found '{_shown(text)}'")
    start, stop = match.groups()
    return (None if start is None else int(start)), (None if stop is None else int(stop))


def parse_part(text: str, flag: str) -> float:
    """Return a share above 0 and up to 1 from "10%" or "0.1".

    Raises
    ------
    UsageError
        Where the text is not such a share.
    """
    from simulator.base.units import parse_share

    share = parse_share(text, flag)
    if not 0 < share <= 1:
        raise UsageError(f"{flag}: expected above 0 and up to 100 %, found '{_shown(text)}'")
    return share


def refuse_empty(trace: Trace, file: Path) -> None:
    """Raise `DataError` for a trace without requests."""
    if not len(trace):
        raise DataError(str(file), "expected requests, found none")


def write_part(
    trace: Trace, out: Path, notes: tuple[str, ...], *, as_json: bool, **more: Any
) -> None:
    """Write a trace made of others; print what was written, its notes and the values of `more`.

    JSON lines cannot hold known answers (output tokens); a note then says that they are missing.
    """
    save_trace(trace, out, trace.granularity)
    if trace.after is not None and out.suffix != ".parquet":
        notes = (
            *notes,
            "JSON lines hold no answers: those that are known are kept in Parquet only",
        )
    print_written(trace, out, as_json=as_json, notes=list(notes), **more)
    for note in () if as_json else notes:
        print_line(f"  {note}")


def _shown(text: str) -> str:
    return printable(text, 40)
