"""On which line of a study file each key stands."""

from __future__ import annotations

import re
from itertools import count

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')"""
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"\s*\[\[?\s*({_NAME})\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(rf"\s*({_NAME})\s*=")


def lines_of(text: str) -> dict[str, int]:
    """Return dotted key -> the line, counted from 1, where it is first written.

    Tables count as keys, too. It is for messages: what looks like a key inside a text of several
    lines is taken for one.
    """
    lines: dict[str, int] = {}
    table = ""
    for number, line in zip(count(1), text.splitlines(), strict=False):
        if header := _TABLE.fullmatch(line):
            table = _dotted(header[1])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            name = _dotted(key[1])
            lines.setdefault(f"{table}.{name}" if table else name, number)
    return lines


def _dotted(name: str) -> str:
    return ".".join(part.strip("\"'") for part in re.findall(_PART, name))
