"""Typed JSON: lines of objects, and the words for what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from simulator.errors import DataError, printable
from workloads.reading.fields import MISSING, Problem, listed
from workloads.reading.reader import read_lines
from workloads.reading.watching import Watch
from workloads.rows import Rows

_WORDS = {
    "object": "one JSON object",
    "float": "a number",
    "float | null": "a number",
    "int": "a whole number",
    "int | null": "a whole number",
    "int | str": "a whole number or text",
    "str": "text",
    "str | null": "text",
}

Line = TypeVar("Line")

_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_json_lines(
    path: Path, rows: Rows, kind: type[Line], take: Callable[[Line, int], Problem | None]
) -> Rows:
    """Decode each line of a file as `kind` and give it to `take` with its number.

    Parameters
    ----------
    path
        The file, plain or gzip.
    rows
        Told of bad lines, and returned.
    kind
        A msgspec struct.
    take
        Adds a line to the rows, or says what is wrong with it and adds nothing.

    Raises
    ------
    DataError
        For the first bad line, unless they are skipped, and for a file without any line.
    """
    decode = Watch(kind, rows).decode
    number = 0
    for number, text in read_lines(path):
        try:
            problem = take(decode(text, number), number)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problem = not_finite(text) or explain(str(error))
        except RecursionError:
            problem = None, "expected a JSON object, found one nested too deeply"
        if problem is not None:
            field, what = problem
            if not len(rows) and rows.first_bad is None:
                what += also_found(what, text)
            rows.refuse(DataError(str(path), what, line=number, field=field))
    if not number:
        raise DataError(str(path), "expected JSON lines, found an empty file")
    return rows


def not_finite(text: bytes) -> Problem | None:
    """Say which field of what is no JSON holds NaN or an infinity, which Python writes."""
    named = re.search(rb'"(\w{1,60})"\s*:\s*\[?[^"\]}]{0,1000}?(-?Infinity|NaN)\b', text)
    if named is None:
        return None
    return named[1].decode(), f"expected a finite number, found {named[2].decode()}"


def also_found(what: str, text: bytes) -> str:
    """Return what else to say of the first object: the fields that it has, or how it begins."""
    if text.lstrip()[:1] not in {b"{", b"["} and "broken line" in what:
        return f", which begins with '{printable(text[:400].decode(errors='replace'), 60)}'"
    if "found none" not in what:
        return ""
    try:
        names = list(_names(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return f"; found instead: {listed(names)}" if names else ""


def explain(said: str) -> Problem:
    """Turn a decoder's message into the field at fault and what was expected and found."""
    what, _, place = said.partition(" - at `$")
    missing = re.fullmatch(r"Object missing required field `(.+)`", what)
    if missing:
        return f"{place.strip('`.')}.{missing[1]}".strip("."), MISSING
    typed = re.fullmatch(r"Expected `(.+)`, got `(.+)`", what)
    if typed:
        what = f"expected {_WORDS.get(typed[1], typed[1])}, found {typed[2]}"
    elif "out of range" in what:
        what = f"expected a number within range, found another ({what.lower()})"
    elif not place:
        what = f"expected one JSON object, found a broken line: {what}"
    return place.strip("`.") or None, what
