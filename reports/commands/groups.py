"""Groups of flags: a dataclass of options that commands share, spread over their signatures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import is_dataclass
from typing import Any

Command = Callable[..., None]


def spread(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator that makes flags of the groups among a command's parameters.

    A parameter that is annotated with a dataclass is such a group: each field, annotated as an
    option of typer, becomes a flag in the parameter's place. Fields in `without` do not, and
    keep their defaults.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        groups: dict[str, Callable[..., Any]] = {
            name: parameter.annotation
            for name, parameter in signature.parameters.items()
            if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
        }

        @functools.wraps(command)
        def spread_out(**given: Any) -> None:
            for name, group in groups.items():
                names = [field for field in inspect.signature(group).parameters if field in given]
                given[name] = group(**{field: given.pop(field) for field in names})
            command(**given)

        shown = list(_flags(signature, groups, without))
        setattr(spread_out, "__signature__", signature.replace(parameters=shown))  # noqa: B010
        spread_out.__annotations__ = {flag.name: flag.annotation for flag in shown}
        return spread_out

    return decorate


def _flags(
    signature: inspect.Signature, groups: Collection[str], without: Collection[str]
) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command, each group replaced by its fields."""
    kind = inspect.Parameter.KEYWORD_ONLY
    for name, parameter in signature.parameters.items():
        if name not in groups:
            yield parameter.replace(kind=kind)
            continue
        yield from (each for each in _options(parameter.annotation) if each.name not in without)


@functools.cache
def _options(group: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return the fields of a group as parameters of a command; many commands share a group."""
    parameters = inspect.signature(group, eval_str=True).parameters.values()
    return tuple(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters)
