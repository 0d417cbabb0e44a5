"""A clock without SimPy, for where that is not installed."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

from simulator.serving.interfaces import ClockError


class HeapClock:
    """Time as a heap of callbacks; those due at one time come in the order they were asked for."""

    def __init__(self) -> None:
        self.now = 0.0  # seconds since the first arrival
        self._due: list[tuple[float, int, Callable[[object], None]]] = []
        self._asked = 0

    def peek(self) -> float:
        """Return when the next callback is due, infinity for none."""
        return self._due[0][0] if self._due else inf

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Call back after a delay; ClockError if it is negative or not finite."""
        if not 0 <= delay_seconds < inf:  # false for NaN too
            raise ClockError(f"a delay of {delay_seconds} s was asked for at {self.now} s")
        heappush(self._due, (self.now + delay_seconds, self._asked, callback))
        self._asked += 1

    def advance(self) -> bool:
        """Let time pass until the next callback, and run it; return whether there was one."""
        if not self._due:
            return False
        self.now, _, callback = heappop(self._due)
        callback(None)
        return True
