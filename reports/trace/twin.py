"""Comparison of the hit curves of a trace and its synthetic twin, drawn from its statistics."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.study.scenario import build_scenario
from reports.study.sections import CacheSection, PolicySection, ResolvedStudy, ServerSection
from simulator.simulation import simulate

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

PLACERS = ("dense", "last")
SHARES = (0.15, 0.3, 0.5, 0.7, 0.85)  # shares of what an unbounded cache saves


@dataclass(frozen=True, slots=True)
class TwinPoint:
    """Saved tokens of a trace and its twin under `lru`, with one placer at one capacity.

    A capacity of None is unlimited.
    """

    placer: str
    capacity_bytes: int | None
    original_saved_tokens: int
    original_prompt_tokens: int
    twin_saved_tokens: int
    twin_prompt_tokens: int

    @property
    def difference_points(self) -> float:
        """The twin's token hit rate minus the original's, in percentage points."""
        twin = self.twin_saved_tokens / self.twin_prompt_tokens
        return 100 * (twin - self.original_saved_tokens / self.original_prompt_tokens)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"difference_points": round(self.difference_points, 3)}


def compare(original: Trace, twin: Trace) -> list[TwinPoint]:
    """Replay both traces without queueing, one request after the other; return their hit curves."""
    capacities: list[int | None] = [*telling_capacities(original), None]
    return [
        TwinPoint(
            placer, capacity, *_saved(original, placer, capacity), *_saved(twin, placer, capacity)
        )
        for placer in PLACERS
        for capacity in capacities
    ]


def telling_capacities(trace: Trace) -> list[int]:
    """Return capacities in bytes, ascending, at which a cache saves a part of what it could.

    They are quantiles of the LRU stack distances at which tokens are used again, times the KV
    bytes of a token, rounded to three digits.
    """
    from workloads.inspection.uses import uses

    reuses = uses(trace)
    tokens = reuses.tokens[reuses.again]
    if not len(tokens):
        return []
    distance = reuses.above[reuses.again] + tokens
    order = np.argsort(distance, kind="stable")
    steps = np.cumsum(tokens[order])
    at = np.searchsorted(steps, np.array(SHARES) * steps[-1])
    scenario = build_scenario(_study("dense", None))
    needed = distance[order][at] * scenario.profile.kv_bytes_per_token
    return sorted({int(float(f"{bytes_:.3g}")) for bytes_ in needed.tolist()})


def _saved(trace: Trace, placer: str, capacity_bytes: int | None) -> tuple[int, int]:
    """Return saved tokens and prompt tokens."""
    summary = simulate(trace, build_scenario(_study(placer, capacity_bytes))).summary()
    return summary["saved_tokens"], summary["prompt_tokens"]


def _study(placer: str, capacity_bytes: int | None) -> ResolvedStudy:
    return ResolvedStudy(
        policy=PolicySection(placer=placer),
        cache=CacheSection(capacity=capacity_bytes),
        server=ServerSection(kind="instant"),
    )
