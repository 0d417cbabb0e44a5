"""A clock for a processor that is shared: seconds as of a machine that keeps its pace.

Processor time leaves out what others take, not what they cost: caches, memory and a core's second
half are shared, so that the same pass takes half as long again beside a busy neighbour. Here a
short pass of known length is timed right before and right after, and what both have slowed down by
is taken out.
"""

from __future__ import annotations

from collections.abc import Callable

from calibration.clock import CallClock
from calibration.fit.points import Typical
from calibration.models.hybrid import HybridModel

REFERENCE_TOKENS = 64  # short, long enough to be timed well, and a point of every profile
_ROUNDS = 20


class SteadyClock:
    """Seconds of a clock, corrected by a reference pass on both sides.

    What is left errs to both sides, so of several times the median counts.

    Parameters
    ----------
    clock
        Takes the times.
    model
        Runs the reference: its own passes slow down as what is timed does.
    unit_seconds
        What the reference takes at the pace that is to be told; None takes what it takes here at
        best.

    Attributes
    ----------
    slowdown
        What the reference takes here at best, the least of 20 passes, over its unit.
    """

    typical: Typical = "median"

    def __init__(
        self, clock: CallClock, model: HybridModel, unit_seconds: float | None = None
    ) -> None:
        self._clock = clock
        self._model = model
        self._cache = model.new_cache(REFERENCE_TOKENS)
        self._tokens = model.random_tokens(REFERENCE_TOKENS, seed=0)
        self._reference()  # which binds kernels and makes the buffers
        best = min(self._reference() for _ in range(_ROUNDS))
        self.unit_seconds = unit_seconds or best
        self.slowdown = best / self.unit_seconds

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the seconds of `action` on a machine as fast as it was for the unit."""
        before = self._reference()
        seconds = self._clock.seconds(action)
        return seconds * 2 * self.unit_seconds / (before + self._reference())

    def _reference(self) -> float:
        self._cache.clear()
        return self._clock.seconds(lambda: self._model.forward(self._cache, self._tokens))
