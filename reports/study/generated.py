"""Checks of the generated traffic in a study file: generators, knobs, drifts and arrivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reports.study.settings import Settings
from simulator.base.errors import UsageError, printable

MEMBER = "workload.generator."  # of a mixture: what follows is the name of a generator


def generator_fields() -> dict[str, Any]:
    """Return the knobs of the built-in workload that `[workload]` takes, with their defaults."""
    from dataclasses import fields

    from workloads.synthetic import SyntheticSpec

    own = ("seed", "rate_per_second", "rate")
    return {field.name: field.default for field in fields(SyntheticSpec) if field.name not in own}


def as_knob(value: Any, default: Any) -> Any:
    """Return a knob's value in the generator's type: 1 becomes 1.0 for a real-valued knob."""
    real = isinstance(default, float) and type(value) is int and abs(value) <= 2**53
    return float(value) if real else value


def mixture(settings: Settings, members: Mapping[str, Any]) -> str:
    """Return the generator that the table `[workload.generator]` names, shares by name."""
    from workloads.synthetic import mixture_text

    if "workload.generator" in settings.values:
        raise contradiction(settings, "workload.generator", "the table [workload.generator]")
    for name, share in members.items():
        if not isinstance(share, int | float) or isinstance(share, bool):
            place = f"{settings.origin(MEMBER + name)}: [workload.generator]"
            problem = f"'{printable(name)}': expected a share, found {shown(share)}"
            raise UsageError(f"{place} {problem}")
    return mixture_text(members)


def refuse_two_workloads(settings: Settings, workload: Mapping[str, Any]) -> None:
    """Refuse knobs and generators beside a trace file, and knobs that the generator lacks."""
    trace, generator = "trace" in workload, "generator" in workload
    if trace and generator:
        raise contradiction(settings, "workload.trace", "workload.generator")
    if workload.get("builtin") and generator:
        raise contradiction(settings, "workload.generator", "workload.builtin = true")
    for name in workload["knobs"]:
        problem = f"workload.{name} (it is a knob of the built-in workload)"
        if trace:
            raise contradiction(settings, "workload.trace", problem)
        if generator and name not in {"requests", "drift"}:
            raise contradiction(settings, "workload.generator", problem)


def refuse_bad_traffic(
    settings: Settings, generator: str | None, knobs: Mapping[str, Any], process: str | None
) -> None:
    """Refuse generators, drifts and arrivals that are unknown or out of range, by their place."""
    from workloads.arrivals import read_process
    from workloads.drift import read_drift
    from workloads.synthetic import SyntheticSpec, read_generator

    knobs = dict(knobs)
    drift = None
    if generator is not None or "grid.workload.generator" in settings.values:
        drift = knobs.pop("drift", None)  # a generator's is text, that of the built-in a number
    readers: dict[str, tuple[Callable[[str], Any], Any]] = {
        "arrivals.process": (read_process, process),
        "workload.generator": (read_generator, generator),
        "workload.drift": (read_drift, drift),
    }
    for key, (read, text) in readers.items():
        if text is not None:
            _read_at(settings, key, read, text)
    try:
        SyntheticSpec(**knobs)
    except UsageError as error:
        name, colon, problem = str(error).removeprefix("synthetic.").partition(": ")
        key = f"workload.{name}"
        if not colon or key not in settings.values:
            raise UsageError(f"{settings.origin('workload')}: built-in workload: {error}") from None
        raise settings.problem(key, f": {problem}") from None


def _read_at(settings: Settings, key: str, read: Callable[[str], Any], text: Any) -> None:
    """Parse a name; an error begins with the setting that it comes from."""
    if not isinstance(text, str):
        expected = "expected text as in shift:distance=0.3"
        raise settings.problem(key, f": {expected}, found {shown(text)}")
    try:
        read(text)
    except UsageError as error:
        raise settings.problem(key, f": {error}") from None


def contradiction(settings: Settings, key: str, other: str) -> UsageError:
    """Return the error of two settings that cannot both be meant."""
    return settings.problem(key, f" contradicts {other}")


def shown(value: Any) -> str:
    """Return a value as a message may show it."""
    return printable(repr(value), limit=80)
