"""Commands as dataclasses: each field is an option, and shared options are inherited.

A command is a dataclass with a method `run`. It inherits groups of shared options (from
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
    """Annotation of an option: the key of the study file that the option sets."""

    key: str


class CommandClass(Protocol):
    """Protocol of a command: a dataclass of options with a method `run`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def run(self) -> None:
        """Run the command."""
        ...


@dataclass_transform(frozen_default=True, kw_only_default=True)
def options(cls: type[Options]) -> type[Options]:
    """Make a class a frozen, keyword-only dataclass of options."""
    return dataclass(frozen=True, kw_only=True)(cls)


def command(cls: type[CommandClass]) -> Callable[..., None]:
    """Return a command in the form typer takes: a function with a parameter for each option."""

    def run(**given: Any) -> None:
        cls(**given).run()

    run.__doc__ = inspect.getdoc(cls)
    run.__name__ = cls.__name__.lower()
    shown = [_parameter(name, hint, cls) for name, hint in _hints(cls).items()]
    setattr(run, "__signature__", inspect.Signature(shown))  # noqa: B010
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def settings_given(command: Any) -> Given:
    """Return the options given that set a key of a study: flag -> (key, value)."""
    values = {name: (key, getattr(command, name)) for name, key in keys_of(type(command)).items()}
    return {
        f"--{name.replace('_', '-')}": given
        for name, given in values.items()
        if given[1] is not None
    }


def keys_of(cls: type) -> dict[str, str]:
    """Return field name -> key of a study, for the fields that set one."""
    return {
        name: each.key
        for name, hint in _hints(cls).items()
        for each in get_args(hint)
        if isinstance(each, Sets)
    }


def _hints(cls: type) -> dict[str, Any]:
    """Return field name -> annotation: the fields of the class first, then the inherited ones."""
    hints, known = get_type_hints(cls, include_extras=True), {field.name for field in fields(cls)}
    names = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())]
    return {name: hints[name] for name in dict.fromkeys(names) if name in known}


def _parameter(name: str, hint: Any, cls: type) -> inspect.Parameter:
    """Return a field as a function parameter that typer understands."""
    default = next(f.default for f in fields(cls) if f.name == name)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=_as_typer(name, hint),
    )


def _as_typer(name: str, hint: Any) -> Any:
    """Return an annotation in which each `Flag` is replaced by an option of typer."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *extras = get_args(hint)
    shown = [_option(name, kind, each) for each in extras if not isinstance(each, Sets)]
    return Annotated[kind, *shown]


def _option(name: str, kind: Any, extra: Any) -> Any:
    if not isinstance(extra, Flag):
        return extra
    names = [f"--{name.replace('_', '-')}"] if kind is bool else []  # no --no-FLAG
    return typer.Option(*names, help=extra.help, metavar=extra.metavar or None)
