"""Readers of stored documents: size-limited and strict, with every field checked.

A msgspec struct says what a document holds. It is checked against the JSON, which the pages then
go on with as plain values; fields that a newer version has added are let through.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from simulator.base.errors import DataError, printable
from simulator.base.json_file import read_json
from workloads.reading.json_lines import explain

LARGEST_FILE_BYTES = 256 * 2**20
MOST = 1e15  # of what is shown with a unit
_WORDS = {"int": "a whole number", "float": "a number", "str": "text", "array": "a list"}
_DEEPEST, _LONGEST, _LARGEST_WHOLE = 20, 1 << 20, 1 << 63

Text = Annotated[str, msgspec.Meta(max_length=1 << 14)]
Whole = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
Count = Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Number = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Document = TypeVar("Document")


def read_document(
    path: Path,
    kind: type[Document],
    what: str,
    schema_version: int = 1,
    *,
    unversioned: bool = False,
    dec_hook: Callable[[Any, Any], Any] | None = None,
) -> tuple[Document, dict[str, Any]]:
    """Return a document as `kind` has it, and as plain values with all that it holds.

    Parameters
    ----------
    path
        The file.
    kind
        A msgspec struct. What its `__post_init__` raises as ValueError is a fault of the file.
    what
        The expected content of the file, such as "a manifest", for messages.
    unversioned
        Whether a file without a version is of this one.
    dec_hook
        Makes what msgspec does not know, such as arrays, of plain values.

    Raises
    ------
    DataError
        For the first field at fault: missing, of another type, out of bounds, contradicting the
        rest. Also for another `schema_version`.
    """
    plain = read_json(path, what, LARGEST_FILE_BYTES, constant=float)  # NaN is refused below
    if not isinstance(plain, dict):
        raise DataError(str(path), f"damaged: expected {what} in JSON, an object")
    version = plain.get("schema_version", schema_version if unversioned else None)
    if isinstance(version, bool) or version != schema_version:
        problem = f"expected {schema_version}, found {printable(repr(version))}"
        raise DataError(str(path), problem, field="schema_version")
    refuse_odd(plain, str(path))
    return checked(plain, kind, str(path), dec_hook), plain


def checked(
    plain: object,
    kind: type[Document],
    source: str,
    dec_hook: Callable[[Any, Any], Any] | None = None,
) -> Document:
    """Return decoded JSON as `kind`; DataError for the first field that is not as it says."""
    try:
        return msgspec.convert(plain, kind, strict=True, dec_hook=dec_hook, str_keys=True)
    except msgspec.ValidationError as error:
        field, problem = at_fault(error)
        raise DataError(source, problem, field=field) from None


def at_fault(error: msgspec.ValidationError) -> tuple[str | None, str]:
    """Return the invalid field, and which value was expected and found."""
    field, problem = explain(str(error))
    bounded = re.fullmatch("Expected `(.+?)`( .+)", problem)
    if bounded is not None:
        problem = f"expected {_WORDS.get(bounded[1], bounded[1])}{bounded[2]}"
    return field, printable(problem)


def refuse_odd(value: object, source: str, place: str = "", level: int = 0) -> None:
    """Raise DataError for what no writer leaves in JSON: whatever could not be written again."""
    if isinstance(value, dict):
        for key, item in value.items():
            inside = f"{place}.{key}" if place else key
            _refuse_text(key, source, inside)
            refuse_odd(item, source, inside, _deeper(level, source, place))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            refuse_odd(item, source, f"{place}[{index}]", _deeper(level, source, place))
    elif isinstance(value, str):
        _refuse_text(value, source, place)
    elif isinstance(value, float) and not math.isfinite(value):
        raise DataError(source, f"expected a finite number, found {value}", field=place)
    elif isinstance(value, int) and not -_LARGEST_WHOLE <= value < _LARGEST_WHOLE:
        raise DataError(source, "expected a whole number of 64 bits", field=place)


def _deeper(level: int, source: str, place: str) -> int:
    if level >= _DEEPEST:
        raise DataError(source, f"nested more than {_DEEPEST} levels deep", field=place)
    return level + 1


def _refuse_text(text: str, source: str, place: str) -> None:
    """Refuse a text that is too long or has an unpaired surrogate, which no encoding can write."""
    if len(text) > _LONGEST:
        raise DataError(source, f"expected at most {_LONGEST:,} characters", field=place)
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise DataError(source, "expected text, found half of a surrogate pair", field=place)
