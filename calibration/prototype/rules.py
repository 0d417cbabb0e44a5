"""What decides in a prototype. No torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.base.errors import UsageError
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Rules:
    """Makers of the policies, and the capacity of the cache; None is unbounded."""

    placer: Callable[[], Placer]
    eviction: Callable[[], EvictionPolicy]
    admission: Callable[[], AdmissionPolicy]
    capacity_bytes: int | None = None


def check_servable(trace: Trace, rules: Rules) -> None:
    """Refuse what no model could serve.

    Raises
    ------
    UsageError
        If the trace has no request or no arrival times, the placer holds states for free, or a
        policy cannot be made.
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
