"""The simulation clock on SimPy; all delays enter the event loop here."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment
from simpy.events import Timeout

from simulator.serving.interfaces import ClockError


class SimpyClock(Environment):
    """A SimPy environment that rejects invalid delays; `timeout(nan)` would corrupt its clock."""

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Schedule a callback after a delay.

        Raises
        ------
        ClockError
            If the delay is negative or not finite.
        """
        if not 0 <= delay_seconds < inf:  # false for NaN too
            raise ClockError(f"a delay of {delay_seconds} s was asked for at {self.now} s")
        Timeout(self, delay_seconds).callbacks.append(callback)
