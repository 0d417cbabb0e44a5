"""What decides in a prototype. No torch."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.protocols import AdmissionPolicy, EvictionPolicy, Placer


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides: the policies, and the capacity of the cache; None is unbounded."""

    placer: Placer
    eviction: EvictionPolicy
    admission: AdmissionPolicy
    capacity_bytes: int | None = None
