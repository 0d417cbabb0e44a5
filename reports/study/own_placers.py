"""Placers from the command line in the place of a study's, whose baseline may not be among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reports.study.settings import Settings
from simulator.base.errors import UsageError, printable

FLAG = "--placer"
BASELINE = "study.baseline"


def with_own_placers(settings: Settings) -> Settings:
    """Return the settings without a baseline that flags have replaced, and with a note on it."""
    keys = [key for key in ("policy.placer", "grid.policy.placer") if settings.origin(key) == FLAG]
    baseline = settings.values.get(BASELINE)
    if not keys or baseline is None or settings.origin(BASELINE).startswith("--"):
        return settings
    placers = settings.values[keys[0]]
    named = [_spelled(placer) for placer in (placers if isinstance(placers, list) else [placers])]
    if _spelled(baseline) in named:
        return settings
    values = {key: value for key, value in settings.values.items() if key != BASELINE}
    note = (
        f"{settings.origin(BASELINE)}: {BASELINE} = {printable(str(baseline), 80)} is not used: it "
        f"is not among the placers of {FLAG}"
    )
    return replace(settings, values=values, notes=(*settings.notes, note))


def _spelled(placer: Any) -> str:
    """Return a placer in its one spelling; as it is where it is none, which is told later."""
    from policies.registry import canonical

    try:
        return canonical("placer", str(placer))
    except UsageError:
        return str(placer)
