"""A clock for a shared CPU, corrected for slowdowns by other processes.

CPU time excludes the time of other processes but not their effect on shared caches, memory and
hyperthreads: beside a busy neighbour a pass can take 1.5 times as long. So a short reference pass
of known duration is timed directly before and after each measurement, and the measured slowdown is
divided out.
"""

from __future__ import annotations

from collections.abc import Callable

from calibration.clock import CallClock
from calibration.fit.points import Typical
from calibration.models.hybrid import HybridModel

REFERENCE_TOKENS = 64  # short but accurately timed, and a point of every profile
_ROUNDS = 20


class SteadyClock:
    """A clock whose times are corrected by a reference pass on either side.

    The remaining errors have both signs, so the median of repeated times is used.

    Parameters
    ----------
    clock
        The underlying clock.
    model
        The model that runs the reference pass, as it is slowed down like the measured passes.
    unit_seconds
        Duration of the reference pass at standard speed; None for its minimum on this machine.

    Attributes
    ----------
    slowdown
        Minimum of 20 reference passes on this machine, divided by `unit_seconds`.
    """

    typical: Typical = "median"

    def __init__(
        self, clock: CallClock, model: HybridModel, unit_seconds: float | None = None
    ) -> None:
        self._clock = clock
        self._model = model
        self._cache = model.new_cache(REFERENCE_TOKENS)
        self._tokens = model.random_tokens(REFERENCE_TOKENS, seed=0)
        self._reference()  # warm-up: loads kernels and allocates buffers
        best = min(self._reference() for _ in range(_ROUNDS))
        self.unit_seconds = unit_seconds or best
        self.slowdown = best / self.unit_seconds

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` and return its seconds, corrected to standard speed by reference passes."""
        before = self._reference()
        seconds = self._clock.seconds(action)
        return seconds * 2 * self.unit_seconds / (before + self._reference())

    def _reference(self) -> float:
        """Time one reference pass."""
        self._cache.clear()
        return self._clock.seconds(lambda: self._model.forward(self._cache, self._tokens))
