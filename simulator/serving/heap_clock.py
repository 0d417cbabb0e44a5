"""A simulation clock that does not need SimPy."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

from simulator.serving.interfaces import ClockError


class HeapClock:
    """A clock based on a heap of callbacks; callbacks at the same time run in scheduling order."""

    def __init__(self) -> None:
        self.now = 0.0  # seconds since the first arrival
        self._due: list[tuple[float, int, Callable[[object], None]]] = []
        self._asked = 0

    def peek(self) -> float:
        """Return the time of the next callback, infinity if there is none."""
        return self._due[0][0] if self._due else inf

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Schedule a callback after a delay.

        Raises
        ------
        ClockError
            If the delay is negative or not finite.
        """
        if not 0 <= delay_seconds < inf:  # false for NaN too
            raise ClockError(f"a delay of {delay_seconds} s was asked for at {self.now} s")
        heappush(self._due, (self.now + delay_seconds, self._asked, callback))
        self._asked += 1

    def advance(self) -> bool:
        """Advance to the next callback and run it; return False if there is none."""
        if not self._due:
            return False
        self.now, _, callback = heappop(self._due)
        callback(None)
        return True
