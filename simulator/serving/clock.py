"""The one place where a delay enters the event loop."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment
from simpy.events import Timeout

from simulator.serving.interfaces import ClockError


class SimpyClock(Environment):
    """Time as SimPy keeps it.

    SimPy accepts `timeout(nan)`, which poisons its clock, so every delay is checked here.
    """

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Call back after a delay.

        Raises
        ------
        ClockError
            If the delay is negative or not finite.
        """
        if not 0 <= delay_seconds < inf:  # false for NaN too
            raise ClockError(f"a delay of {delay_seconds} s was asked for at {self.now} s")
        Timeout(self, delay_seconds).callbacks.append(callback)
