"""Options of a command line as fields of a dataclass, for any library that parses arguments.

A field such as `seed: Annotated[int, Flag("Seed of the traffic.")] = 0` is the option `--seed`. A
command that must run where only the standard library is installed takes its parser from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class Flag:
    """The option of a field.

    Parameters
    ----------
    help
        A sentence for --help.
    metavar
        What stands for the value there; derived from the type if empty.
    """

    help: str
    metavar: str = ""


def flags_of(options: type) -> Iterator[tuple[Field[Any], type, Flag]]:
    """Yield field, type of the value and flag of each field that is an option."""
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        hint = hints[field.name]
        if get_origin(hint) is Annotated:
            kind, *extras = get_args(hint)
            flag = next((extra for extra in extras if isinstance(extra, Flag)), None)
            if flag is not None:
                yield field, _value_type(kind), flag


def add_flags(parser: argparse.ArgumentParser, options: type) -> None:
    """Add an option for each field of a dataclass that has a flag."""
    for field, kind, flag in flags_of(options):
        name, required = f"--{field.name.replace('_', '-')}", field.default is MISSING
        if kind is bool:
            parser.add_argument(name, action="store_true", help=_escaped(flag.help))
            continue
        shown = {"metavar": flag.metavar} if flag.metavar else {}
        default = None if required else field.default
        known = f"{flag.help} Default: {default}." if default is not None else flag.help
        parser.add_argument(
            name, type=kind, default=default, required=required, help=_escaped(known), **shown
        )


def _escaped(text: str) -> str:
    """Return a text in which argparse fills in nothing."""
    return text.replace("%", "%%")


def _value_type(kind: Any) -> type:
    """Return the type of a value that may also be None."""
    kinds = [each for each in get_args(kind) if each is not NoneType]
    chosen: type = kinds[0] if kinds else kind
    return chosen
