"""The effect of a coarse clock on a run: the same requests, spread within its ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.study.cells import Cell
from reports.study.clock import coarse_tick_seconds, ticks_of
from reports.study.scenario import build_scenario
from reports.study.sections import ResolvedStudy
from reports.study.traces import with_times
from simulator.base.units import format_seconds

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

JITTER_SEED = 1


@dataclass(frozen=True, slots=True)
class Tick:
    """A trace of a coarse clock, of so many seconds, with its arrivals spread within ticks."""

    trace: Trace
    seconds: float

    @classmethod
    def of(cls, trace: Trace, cell: Cell) -> Tick | None:
        """Return the clock tick of a trace as read from its file; None where its clock is fine."""
        from workloads.rows import with_jitter

        seconds = coarse_tick_seconds(trace)
        if seconds is None:
            return None
        spread = with_jitter(trace, JITTER_SEED)
        return cls(with_times(spread, cell.study, cell.seed), seconds)

    def effect(self, study: ResolvedStudy, ttft_seconds: float | None) -> dict[str, Any]:
        """Replay the trace and return its mean TTFT beside that of the clock, and the warning."""
        from simulator.simulation import simulate

        result = simulate(self.trace, build_scenario(study))
        spread = result.summary(study.study.warmup_share)["ttft_seconds"]["mean"]
        warning = ticks_of(self.trace.name, self.seconds)
        if ttft_seconds is not None and spread is not None:
            warning += (
                f" Mean TTFT {format_seconds(ttft_seconds)}; {format_seconds(spread)} with "
                f"arrivals spread within the tick (--jitter {JITTER_SEED})"
            )
        return {
            "warning": warning,
            "tick_seconds": self.seconds,
            "ttft_mean_seconds": ttft_seconds,
            "jittered_ttft_mean_seconds": spread,
            "jitter_seed": JITTER_SEED,
        }
