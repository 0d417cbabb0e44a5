"""Parameters of plug-ins: read from text, checked, and written, with one wording for all."""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass
from typing import Any

from simulator.errors import UsageError, did_you_mean, printable

REQUIRED = inspect.Parameter.empty
GREATEST = 2**53  # integers beyond this are typing errors, and no longer exact as floats


def require(holds: bool, parameter: str, expected: str, found: object) -> None:
    """Raise ValueError "parameter: expected ..., found ..." unless the condition holds."""
    if not holds:
        raise ValueError(f"{parameter}: expected {expected}, found {found!r}")


def require_at_least(parameter: str, found: float, least: float) -> None:
    """Raise ValueError unless `found` is at least `least` (NaN is not)."""
    require(found >= least, parameter, f"{least} or more", found)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a policy; `default` is REQUIRED where it has none."""

    name: str
    type: type
    default: Any


def parameters_of(plugin: type) -> tuple[Parameter, ...]:
    """Return the constructor's parameters, in order."""
    signature = inspect.signature(plugin, eval_str=True)
    return tuple(
        Parameter(name, _plain_type(parameter.annotation), parameter.default)
        for name, parameter in signature.parameters.items()
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    )


def read_values(known: tuple[Parameter, ...], assignments: str) -> dict[str, Any]:
    """Read "key=value,key=value" against the known parameters.

    Raises
    ------
    UsageError
        Where a parameter is unknown, missing or given twice, or a value is ill-typed.
    """
    by_name = {parameter.name: parameter for parameter in known}
    values: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in assignments.split(","))):
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise UsageError(f"expected key=value, found '{printable(item)}'")
        if key not in by_name:
            hint = did_you_mean(key, [*by_name]) if by_name else "; it takes none"
            raise UsageError(f"unknown parameter '{printable(key)}'{hint}")
        if key in values:
            raise UsageError(f"parameter '{key}' is given twice")
        values[key] = _value(by_name[key], text)
    missing = [p.name for p in known if p.default is REQUIRED and p.name not in values]
    if missing:
        raise UsageError(f"parameter '{missing[0]}' is missing (write {missing[0]}=...)")
    return values


_PATTERNS = {
    int: r"[+-]?[0-9]{1,16}",
    float: r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?",
    bool: "true|false",
    str: ".+",
}
_EXPECTED = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}


def _value(parameter: Parameter, text: str) -> Any:
    """Read one value as the type of its parameter."""
    kind = parameter.type
    if re.fullmatch(_PATTERNS[kind], text):
        value = text == "true" if kind is bool else kind(text)
        if isinstance(value, str) or abs(value) <= GREATEST:
            return value
    raise UsageError(f"{parameter.name}: expected {_EXPECTED[kind]}, found '{printable(text)}'")


def _plain_type(hint: Any) -> type:
    """Return the type of an annotation such as `int` or `int | None`."""
    options = [option for option in (typing.get_args(hint) or (hint,)) if option is not type(None)]
    return options[0] if options[0] in _PATTERNS else str


def text_of(value: Any) -> str:
    """Write a value as it is read."""
    return str(value).lower() if isinstance(value, bool) else str(value)
