"""The policies and the capacity of a prototype run; needs no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.base.errors import UsageError
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Rules:
    """Factories of the policies, and the cache capacity in bytes (None for unbounded)."""

    placer: Callable[[], Placer]
    eviction: Callable[[], EvictionPolicy]
    admission: Callable[[], AdmissionPolicy]
    capacity_bytes: int | None = None


def check_servable(trace: Trace, rules: Rules) -> None:
    """Check that a model can serve the trace with these policies.

    Raises
    ------
    UsageError
        If the trace has no requests or no arrival times, or the placement policy assumes states at
        every position at no cost.
    """
    if not len(trace):
        raise UsageError(f"trace '{trace.name}' has no request")
    if trace.arrival_seconds is None:
        raise UsageError(f"trace '{trace.name}' has no arrival times: state a load")
    placer, _, _ = rules.placer(), rules.eviction(), rules.admission()
    if placer.implicit:
        raise UsageError(
            "the placer holds a state everywhere for free, which no model can: "
            "'block:size=64' holds real ones"
        )
