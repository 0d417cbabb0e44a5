"""Reads and writes strings like `name:key=value,key=value` that name a class and its parameters.

Policies, generators and arrival processes are named this way. The keys are the parameters of the
class's constructor.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from simulator.base.errors import UsageError, did_you_mean, printable

REQUIRED = inspect.Parameter.empty
GREATEST = 2**53  # larger integers are not exact as floats, and surely a mistake

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constructor parameter; `default` is REQUIRED if it has none."""

    name: str
    type: type
    default: Any


def create_named(kind: str, classes: Mapping[str, type[T]], spec: str) -> T:
    """Create an instance from a string such as "poisson:rate=2".

    Parameters
    ----------
    kind
        What is being named, such as "arrivals", for error messages.
    classes
        The known classes by name.
    spec
        The string.

    Raises
    ------
    UsageError
        If the name, a parameter or a value is unknown, missing, of the wrong type or out of range.
    """
    name, _, assignments = (part.strip() for part in spec.partition(":"))
    try:
        if name not in classes:
            raise UsageError(f"unknown name '{printable(name)}'{did_you_mean(name, [*classes])}")
        made = classes[name]
        return made(**read_values(parameters_of(made), assignments))
    except UsageError as error:
        raise UsageError(f"{kind} '{printable(spec)}': {error}") from None


def name_of(classes: Mapping[str, type[T]], value: T) -> str:
    """Return the string from which `create_named` makes the dataclass `value`, defaults omitted."""
    name = next(name for name, known in classes.items() if known is type(value))
    given = ((p, getattr(value, p.name)) for p in parameters_of(type(value)))
    shown = ",".join(f"{p.name}={text_of(setting)}" for p, setting in given if setting != p.default)
    return f"{name}:{shown}" if shown else name


def parameters_of(plugin: type) -> tuple[Parameter, ...]:
    """Return the parameters of a class's constructor, in order."""
    signature = inspect.signature(plugin, eval_str=True)
    return tuple(
        Parameter(name, _plain_type(parameter.annotation), parameter.default)
        for name, parameter in signature.parameters.items()
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    )


def read_values(known: tuple[Parameter, ...], assignments: str) -> dict[str, Any]:
    """Parse "key=value,key=value" into a dict of typed values.

    Raises
    ------
    UsageError
        If a parameter is unknown, missing or given twice, or a value has the wrong type.
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
    """Parse one value as the type of its parameter."""
    kind = parameter.type
    if re.fullmatch(_PATTERNS[kind], text):
        value = text == "true" if kind is bool else kind(text)
        if isinstance(value, str) or abs(value) <= GREATEST:
            return value
    raise UsageError(f"{parameter.name}: expected {_EXPECTED[kind]}, found '{printable(text)}'")


def _plain_type(hint: Any) -> type:
    """Return int, float, bool or str for an annotation such as `int | None`; str for any other."""
    options = [option for option in (typing.get_args(hint) or (hint,)) if option is not type(None)]
    return options[0] if options[0] in _PATTERNS else str


def text_of(value: Any) -> str:
    """Return a value as text that `read_values` accepts."""
    return str(value).lower() if isinstance(value, bool) else str(value)
