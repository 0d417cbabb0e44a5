"""Conversion of decoded JSON to frozen dataclasses, with a check of every field.

Uses the standard library only. The annotations of a dataclass are its schema:
`Annotated[float, Within(0, 1)]`, `Literal[...]`, `tuple[X, ...]`, `Mapping[str, X]`, `X | None`
and other dataclasses. A field with a default is optional.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from simulator.base.errors import DataError, did_you_mean, printable

T = TypeVar("T")

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Within:
    """Inclusive bounds of a number, for use in `Annotated`."""

    low: float
    high: float

    @property
    def expected(self) -> str:
        """The bounds in words, for error messages."""
        return f"a number from {self.low:g} to {self.high:g}"

    def accepts(self, value: float) -> bool:
        """Tell whether `value` lies within the bounds."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression that a text must match in full, for use in `Annotated`."""

    pattern: str
    expected: str

    def accepts(self, value: str) -> bool:
        """Tell whether the whole `value` matches."""
        return re.fullmatch(self.pattern, value) is not None


def decode(schema: type[T], data: object, source: str, place: str = "") -> T:
    """Build an instance of the dataclass `schema` from decoded JSON.

    Parameters
    ----------
    schema
        The dataclass.
    data
        The decoded JSON value.
    source, place
        File name, and dotted path of `data` within the file, for error messages.

    Raises
    ------
    DataError
        If a field is missing, unknown, of the wrong type or out of bounds; the message names it.
    """
    record: T = _record(schema, data, source, place)
    return record


def _value(kind: Any, value: object, source: str, place: str) -> Any:
    """Convert `value` to the annotated type `kind`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(arguments, value, source, place)
    if origin in (Union, UnionType):
        return _first_fit(arguments, value, source, place)
    if origin in (tuple, Mapping):
        return _container(origin, arguments, value, source, place)
    if origin is Literal:
        return _choice(arguments, value, source, place)
    decoder = _record if is_dataclass(kind) else _plain
    return decoder(kind, value, source, place)


def _container(
    origin: Any, arguments: tuple[Any, ...], value: object, source: str, place: str
) -> Any:
    """Convert a list to a tuple, or an object to a dict, and check each item."""
    if origin is tuple:
        items = _of(list, "a list", value, source, place)
        return tuple(_value(arguments[0], x, source, f"{place}[{i}]") for i, x in enumerate(items))
    named = _of(dict, "an object", value, source, place)
    return {key: _value(arguments[1], x, source, _join(place, key)) for key, x in named.items()}


def _record(schema: Any, data: object, source: str, place: str) -> Any:
    """Build the dataclass `schema` from a JSON object."""
    items = _of(dict, "an object", data, source, place)
    known = fields(schema)
    for key in items:
        if key not in {field.name for field in known}:
            hint = did_you_mean(str(key), [field.name for field in known])
            raise DataError(source, f"unknown field{hint}", field=_join(place, str(key)))
    hints = get_type_hints(schema, include_extras=True)
    values = {}
    for field in known:
        at = _join(place, field.name)
        if field.name in items:
            values[field.name] = _value(hints[field.name], items[field.name], source, at)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise DataError(source, "missing", field=at)
    return schema(**values)


def _bounded(arguments: tuple[Any, ...], value: object, source: str, place: str) -> Any:
    """Convert `value` to an `Annotated` type and check its bounds."""
    kind, *bounds = arguments
    result = _value(kind, value, source, place)
    for bound in bounds:
        if not bound.accepts(result):
            raise _wrong(bound.expected, value, source, place)
    return result


def _first_fit(kinds: tuple[Any, ...], value: object, source: str, place: str) -> Any:
    """Convert `value` to the first type of a union that accepts it."""
    if value is None and NoneType in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    for kind in kinds[:-1]:
        try:
            return _value(kind, value, source, place)
        except DataError:
            continue
    return _value(kinds[-1], value, source, place)


def _choice(choices: tuple[Any, ...], value: object, source: str, place: str) -> Any:
    """Return `value` if it equals one of `choices` and has the same type (True is not 1)."""
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return value
    raise _wrong(" or ".join(map(repr, choices)), value, source, place)


def _plain(kind: Any, value: object, source: str, place: str) -> Any:
    """Convert `value` to float, int or str; for any other type check it as arbitrary JSON."""
    if kind is float:
        return _number(value, source, place)
    if kind is int:
        return _of(int, "a whole number", value, source, place)
    if kind is str:
        return _of(str, "a text", value, source, place)
    return _any(value, source, place, _DEEPEST)


def _number(value: object, source: str, place: str) -> float:
    """Convert a finite number to float."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise _wrong("a finite number", value, source, place)


def _any(value: object, source: str, place: str, levels: int) -> object:
    """Return JSON unchanged; raise DataError for a non-finite number or too deep nesting."""
    if levels == 0:
        raise DataError(source, f"nested more than {_DEEPEST} levels deep", field=place)
    if isinstance(value, dict):
        for key, item in value.items():
            _any(item, source, _join(place, str(key)), levels - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _any(item, source, f"{place}[{index}]", levels - 1)
    elif not isinstance(value, str | bool | NoneType):
        _number(value, source, place)
    return value


def _of(kind: type[T], expected: str, value: object, source: str, place: str) -> T:
    """Return `value` if it is an instance of `kind`; a bool does not count as a number."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _wrong(expected, value, source, place)
    return value


def _wrong(expected: str, value: object, source: str, place: str) -> DataError:
    """Return the error for an unexpected value."""
    return DataError(source, f"expected {expected}, found {_described(value)}", field=place or None)


def _described(value: object) -> str:
    """Describe `value` briefly in JSON terms, for an error message."""
    names = {None: "null", True: "true", False: "false"}
    if isinstance(value, NoneType | bool):
        return names[value]
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a huge number"
    return printable(repr(value), 60)


def _join(place: str, name: str) -> str:
    """Return the dotted path of a field."""
    return f"{place}.{name}" if place else name
