"""Damaged copies of a stored document: every field once with each kind of wrong value."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "text": "odd",
    "no text": "",
    "surrogate": "\ud800",
    "long text": "x" * 20_000,
    "minus one": -1,
    "zero": 0,
    "seven": 7,
    "fraction": 0.125,
    "huge": 1e300,
    "digits": 10**40,
    "infinity": float("inf"),
    "not a number": float("nan"),
    "no list": [],
    "list of null": [None],
    "no object": {},
    "object of null": {"odd": None},
}
Place = tuple[str | int, ...]


def places(document: Any, at: Place = ()) -> Iterator[Place]:
    """Yield where values stand, those within lists and objects included."""
    yield at
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*at, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*at, index))


def fields(document: Any) -> list[Place]:
    """Return one place a field: of the items of a list those that are the first of their form."""
    by_form: dict[tuple[Any, ...], Place] = {}
    for place in places(document):
        form = tuple("[]" if isinstance(step, int) else step for step in place)
        by_form.setdefault((*form, type(_at(document, place)).__name__), place)
    return list(by_form.values())


def damaged(document: Any, kinds: list[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield a name and the bytes of the document with one value replaced or left out."""
    for place in fields(document):
        for kind in VALUES if kinds is None else kinds:
            yield f"{_named(place)}: {kind}", _replaced(document, place, VALUES[kind])
        if place and isinstance(place[-1], str):
            yield f"{_named(place)}: missing", _replaced(document, place)


def broken(raw: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes cut short and with bytes changed, and what is no document at all."""
    chance = random.Random(0)
    for _ in range(count):
        at = chance.randrange(len(raw))
        yield f"cut at {at}", raw[:at]
        yield f"byte {at}", raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
    deep = b"[" * 100_000
    for other in (b"", b"null", b"[]", b"{}", b"7", b'"text"', b"\xff\xfe", b"\0", deep):
        yield f"{other[:8]!r} instead", other
    yield "a number of 10,000 digits", re.sub(rb": \d+", b": " + b"9" * 10_000, raw, count=2)


def _replaced(document: Any, place: Place, *value: Any) -> bytes:
    """Return the bytes of a document with another value at a place, or none there."""
    changed = copy.deepcopy(document)
    if not place:
        changed = value[0]
    else:
        inside = _at(changed, place[:-1])
        if value:
            inside[place[-1]] = value[0]
        else:
            del inside[place[-1]]
    return json.dumps(changed).replace("Infinity", "1e999").encode()


def _at(document: Any, place: Place) -> Any:
    for step in place:
        document = document[step]
    return document


def _named(place: Place) -> str:
    return ".".join(map(str, place)) or "all"
