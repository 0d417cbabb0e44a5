"""What decides in a prototype. No torch."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.base.errors import UsageError
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides: the policies, and the capacity of the cache; None is unbounded."""

    placer: Placer
    eviction: EvictionPolicy
    admission: AdmissionPolicy
    capacity_bytes: int | None = None


def check_servable(trace: Trace, rules: Rules) -> None:
    """Refuse what no model could serve.

    Raises
    ------
    UsageError
        If the trace has no request or no arrival times, or the placer holds states for free.
    """
    if not len(trace):
        raise UsageError(f"trace '{trace.name}' has no request")
    if trace.arrival_seconds is None:
        raise UsageError(f"trace '{trace.name}' has no arrival times: state a load")
    if rules.placer.implicit:
        raise UsageError(
            "the placer holds a state everywhere for free, which no model can: "
            "'block:size=64' holds real ones"
        )
