"""User-defined policies in a study: placers from the command line, warnings on their classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reports.study.joint_policy import FLAG as JOINT
from reports.study.joint_policy import KINDS, VARIED, policies_in
from reports.study.settings import Settings
from simulator.base.errors import UsageError, printable

FLAG = "--placer"
BASELINE = "study.baseline"
_PLACERS = ("policy.placer", "grid.policy.placer", VARIED)


def doubts(settings: Settings) -> list[str]:
    """Return a warning for each method of a user-defined policy that is never called.

    Policies that cannot be created are skipped here; creating them later raises the error.
    """
    return list(dict.fromkeys(doubt for kind, spec in _own(settings) for doubt in _of(kind, spec)))


def _own(settings: Settings) -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        one, many = (settings.values.get(f"{at}policy.{kind}") for at in ("", "grid."))
        for spec in [one, *(many if isinstance(many, list) else [])]:
            if isinstance(spec, str) and ":" in spec:
                yield kind, spec
    for policies in policies_in(settings):
        yield from policies.items()


def _of(kind: str, spec: str) -> list[str]:
    from policies.registry import doubts_of

    try:
        return doubts_of(kind, spec)
    except UsageError:
        return []


def with_own_placers(settings: Settings) -> Settings:
    """Return the settings without a baseline that is not among the flags' placers, plus a note."""
    keys = [key for key in _PLACERS if settings.origin(key) in {FLAG, JOINT}]
    baseline = settings.values.get(BASELINE)
    if not keys or baseline is None or settings.origin(BASELINE).startswith("--"):
        return settings
    placers = settings.values[keys[0]]
    if keys[0] == VARIED:
        placers = [joint.get("placer", baseline) for joint in policies_in(settings)]
    named = [_spelled(placer) for placer in (placers if isinstance(placers, list) else [placers])]
    if _spelled(baseline) in named:
        return settings
    values = {key: value for key, value in settings.values.items() if key != BASELINE}
    note = (
        f"{settings.origin(BASELINE)}: {BASELINE} = {printable(str(baseline), 80)} is not used: it "
        f"is not among the placers of {settings.origin(keys[0])}"
    )
    return replace(settings, values=values, notes=(*settings.notes, note))


def _spelled(placer: Any) -> str:
    """Return a placer in canonical spelling; an invalid one unchanged (it is refused later)."""
    from policies.registry import canonical

    try:
        return canonical("placer", str(placer))
    except UsageError:
        return str(placer)
