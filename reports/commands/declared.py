"""Commands as dataclasses: a field is an option, and options that commands share are inherited.

A command is a dataclass with a method `run`. It inherits the groups of options that it has (as in
`options.py` and `study_options.py`), so that each option is declared once, and adds its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import (
    Annotated,
    Any,
    ClassVar,
    Protocol,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from simulator.base.flags import Flag

Options = TypeVar("Options")
Given = dict[str, tuple[str, Any]]  # flag -> key of a study file, value


@dataclass(frozen=True, slots=True)
class Sets:
    """Says of an option which key of a study file it sets."""

    key: str


class CommandClass(Protocol):
    """A dataclass of options that can be run."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def run(self) -> None:
        """Do what the command is for."""
        ...


@dataclass_transform(frozen_default=True, kw_only_default=True)
def options(cls: type[Options]) -> type[Options]:
    """Make a frozen dataclass of a group of options, or of a command."""
    return dataclass(frozen=True, kw_only=True)(cls)


def command(cls: type[CommandClass]) -> Callable[..., None]:
    """Return a command as typer takes it: a function with a parameter for each option."""

    def run(**given: Any) -> None:
        cls(**given).run()

    run.__doc__ = inspect.getdoc(cls)
    run.__name__ = cls.__name__.lower()
    shown = [_parameter(name, hint, cls) for name, hint in _hints(cls).items()]
    setattr(run, "__signature__", inspect.Signature(shown))  # noqa: B010
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def settings_given(command: Any) -> Given:
    """Return what was given of the options that set a key of a study: flag -> key and value."""
    values = {name: (key, getattr(command, name)) for name, key in keys_of(type(command)).items()}
    return {
        f"--{name.replace('_', '-')}": given
        for name, given in values.items()
        if given[1] is not None
    }


def keys_of(cls: type) -> dict[str, str]:
    """Return field -> the key of a study that it sets, of the fields that set one."""
    return {
        name: each.key
        for name, hint in _hints(cls).items()
        for each in get_args(hint)
        if isinstance(each, Sets)
    }


def _hints(cls: type) -> dict[str, Any]:
    """Return the annotation of each field: first those of the class, then what it inherits."""
    hints, known = get_type_hints(cls, include_extras=True), {field.name for field in fields(cls)}
    names = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())]
    return {name: hints[name] for name in dict.fromkeys(names) if name in known}


def _parameter(name: str, hint: Any, cls: type) -> inspect.Parameter:
    """Return a field as the parameter of a function that typer understands."""
    default = next(f.default for f in fields(cls) if f.name == name)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=_as_typer(name, hint),
    )


def _as_typer(name: str, hint: Any) -> Any:
    """Return an annotation whose flag, if it has one that is not typer's, is an option of typer."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *extras = get_args(hint)
    shown = [_option(name, kind, each) for each in extras if not isinstance(each, Sets)]
    return Annotated[kind, *shown]


def _option(name: str, kind: Any, extra: Any) -> Any:
    if not isinstance(extra, Flag):
        return extra
    names = [f"--{name.replace('_', '-')}"] if kind is bool else []  # without its --no-
    return typer.Option(*names, help=extra.help, metavar=extra.metavar or None)
