"""Studies with several workloads: `[[grid.workload]]` tables, each with its own settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reports.study.settings import Settings, flatten
from simulator.base.errors import UsageError, printable

WORKLOADS = "workload"  # key of the grid whose values are tables of workload settings
_SOURCES = ("trace", "generator", "builtin")


def named_workloads(settings: Settings, entries: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    """Return the workloads of the grid by unique names.

    The name is the trace's file name or the generator. If several workloads share it, their other
    settings are added.

    Raises
    ------
    UsageError
        For an entry that is not a table or is empty, and for a workload that occurs twice.
    """
    place = f"{settings.origin(f'grid.{WORKLOADS}')}: [[grid.workload]]"
    for entry in entries:
        if not isinstance(entry, dict) or not entry:
            shown = printable(repr(entry), limit=80)
            raise UsageError(f"{place}: expected a table, as in trace = 'a.jsonl', found {shown}")
    names = _names(entries)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{place}: the same workload twice: {printable(name)}")
    return dict(zip(names, entries, strict=True))


def with_workload(settings: Settings, entry: Mapping[str, Any]) -> Settings:
    """Return the settings, overridden by those of one workload of the grid."""
    origin = f"{settings.origin(f'grid.{WORKLOADS}')}: [[grid.workload]]"
    for name, value in flatten(entry):
        settings = settings.with_value(f"workload.{name}", value, origin)
    return settings


def without_replaced(settings: Settings) -> Settings:
    """Return the settings without the grid's workloads if a flag gives another workload."""
    flags = [f"workload.{source}" for source in _SOURCES]
    if not any(settings.origins.get(flag, "").startswith("--") for flag in flags):
        return settings
    values = {key: v for key, v in settings.values.items() if key != f"grid.{WORKLOADS}"}
    return replace(settings, values=values)


def source_name(trace: Any, generator: Any) -> str:
    """Return the file name of a trace, the name of a generator, or "built-in"."""
    if trace is not None:
        return Path(str(trace)).name
    return "built-in" if generator is None else str(generator)


def _names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    short = [source_name(entry.get("trace"), _generator(entry)) for entry in entries]
    return [
        name if short.count(name) == 1 else f"{name} ({_rest(entry)})"
        for name, entry in zip(short, entries, strict=True)
    ]


def _generator(entry: Mapping[str, Any]) -> Any:
    """Return the generator of a workload; a mixture is written as one string."""
    generator = entry.get("generator")
    if not isinstance(generator, dict):
        return generator
    return " + ".join(f"{share} {name}" for name, share in generator.items())


def _rest(entry: Mapping[str, Any]) -> str:
    """Return the settings that distinguish workloads with the same short name."""
    shown = {key: v for key, v in flatten(entry) if key not in ("generator", "builtin")}
    return ", ".join(f"{key} {value}" for key, value in shown.items()) or "as it is"
