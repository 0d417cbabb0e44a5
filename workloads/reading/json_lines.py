"""Typed reading of JSON lines, and error messages for what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from simulator.base.errors import DataError, printable
from workloads.reading.fields import MISSING, Problem
from workloads.reading.reader import read_lines
from workloads.reading.watching import Watch
from workloads.rows import Rows

_WORDS = {
    "object": "one JSON object",
    "decimal": "a number",
    "decimal | null": "a number",
    "int | decimal": "a number or text",
    "float": "a number",
    "float | null": "a number",
    "int": "a whole number",
    "int | object": "a token id or one JSON object",
    "int | null": "a whole number",
    "int | str": "a whole number or text",
    "str": "text",
    "str | array | null": "text or a list",
    "str | null": "text",
}

MOST_NAMED = 8

_VALUE = re.compile(
    rb'["\d-]|true|false|null|$'
)  # a JSON value that is no object or list; the decoder reports its type

Line = TypeVar("Line")


def read_json_lines(
    path: Path, rows: Rows, kind: type[Line], take: Callable[[Line, int], Problem | None]
) -> Rows:
    """Decode each line of a file as `kind` and pass it to `take` with its number.

    Parameters
    ----------
    path
        The file, plain or gzip.
    rows
        Registers bad lines; returned.
    kind
        A msgspec struct.
    take
        Adds a line to the rows, or returns what is wrong with it and adds nothing.

    Raises
    ------
    DataError
        For the first bad line, unless bad lines are skipped, and for a file without any line.
    """
    decode = Watch(kind, rows).decode
    number = 0
    for number, text in read_lines(path):
        try:
            problem = among(take(decode(text, number), number), text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problem = not_finite(text) or no_json(text) or _indented(text)
            problem = problem or among(explain(str(error)), text)
        except RecursionError:
            problem = None, "expected a JSON object, found one nested too deeply"
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(path), what, line=number, field=field))
    if not number:
        raise DataError(str(path), "expected JSON lines, found an empty file")
    return rows


def among(problem: Problem | None, line: bytes | Iterable[str]) -> Problem | None:
    """Return a problem; if a field is missing, the names of the line's other fields are added."""
    if problem is None or not problem[1].endswith("found none") or "." in (problem[0] or "."):
        return problem
    names = _names(line) if isinstance(line, bytes) else list(line)
    shown = ", ".join(printable(name, 40) for name in names[:MOST_NAMED])
    more = ", ..." if len(names) > MOST_NAMED else ""
    return (problem[0], f"{problem[1]} among {shown}{more}") if names else problem


def _names(line: bytes) -> list[str]:
    try:
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    return [name for name, raw in fields.items() if bytes(raw) != b"null"]


def not_finite(text: bytes) -> Problem | None:
    """Return a problem if invalid JSON contains NaN or an infinity, as Python may write."""
    named = re.search(rb'"(\w{1,60})"\s*:\s*\[?[^"\]}]{0,1000}?(-?Infinity|NaN)\b', text)
    if named is None:
        return None
    return named[1].decode(), f"expected a finite number, found {named[2].decode()}"


def _indented(text: bytes) -> Problem | None:
    """Return a problem if a line is only an opening bracket, as in an indented document."""
    if text.strip() in {b"{", b"["}:
        return None, "expected one JSON object a line, found the first line of an indented document"
    return None


def no_json(text: bytes) -> Problem | None:
    """Return a problem if a line does not begin like a JSON object or list."""
    start = text[:400].lstrip()
    if start[:1] in {b"{", b"["} or _VALUE.match(start):
        return None
    shown = printable(start.partition(b"\n")[0].decode(errors="replace"), 60)
    return None, f"expected one JSON object, found a broken line: text that begins with '{shown}'"


def explain(message: str) -> Problem:
    """Return the field and a readable message for a decoder's error message."""
    what, _, place = message.partition(" - at `$")
    missing = re.fullmatch(r"Object missing required field `(.+)`", what)
    if missing:
        return f"{place.strip('`.')}.{missing[1]}".strip("."), MISSING
    typed = re.fullmatch(r"Expected `(.+)`, got `(.+)`", what)
    if typed:
        what = f"expected {_WORDS.get(typed[1], typed[1])}, found {typed[2]}"
    elif what == "Invalid decimal string":
        what = "expected a number, found text"
    elif "out of range" in what:
        what = f"expected a number within range, found another ({what.lower()})"
    elif not place:
        what = f"expected one JSON object, found a broken line: {what}"
    return place.strip("`.") or None, what
