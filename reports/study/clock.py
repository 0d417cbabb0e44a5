"""Warnings about coarse clocks: rounded arrival times come in bursts and lengthen queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.study.sections import ResolvedStudy
from simulator.base.errors import printable

if TYPE_CHECKING:
    from simulator.trace.trace import Trace


def coarse_tick_seconds(trace: Trace) -> float | None:
    """Return the tick, in seconds, of a clock that makes bursts; None without one or without times.

    `milepost trace validate` applies the same rule.
    """
    import numpy as np

    from workloads.inspection.burstiness import coarse_tick

    if trace.arrival_seconds is None:
        return None
    return coarse_tick(np.unique(trace.arrival_seconds), len(trace))


def clock_warnings(study: ResolvedStudy, name: str, tick_seconds: float | None) -> list[str]:
    """Return the warning about a coarse clock, if queueing depends on the trace's arrival times.

    With an instant server nothing waits, and drawn arrivals have no clock.
    """
    if tick_seconds is None or not waits_by_the_clock(study):
        return []
    return [
        f"{ticks_of(name, tick_seconds)} --jitter SEED spreads arrivals within ticks (`milepost "
        "run` says what that changes)"
    ]


def waits_by_the_clock(study: ResolvedStudy) -> bool:
    """Say whether requests queue at the arrival times of a trace file."""
    return study.workload.trace is not None and study.server.kind == "queue"


def ticks_of(name: str, tick_seconds: float) -> str:
    """Return a sentence on the coarse clock of a trace."""
    return (
        f"the times of {printable(name)} are told in ticks of {tick_seconds:g} s: bursts are of "
        "the clock, and lengthen times to first token."
    )
