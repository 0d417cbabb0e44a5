"""The one place where a delay enters the event loop."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment
from simpy.events import Event, Timeout

from simulator.base.errors import MilepostError


class ClockError(MilepostError):
    """A delay that is not finite and non-negative: a bug of a policy, a server or a profile."""


def after(env: Environment, delay_seconds: float, callback: Callable[[Event], None]) -> None:
    """Call `callback` after `delay_seconds`.

    SimPy accepts `timeout(nan)`, which poisons its clock, so every delay is checked here.

    Raises
    ------
    ClockError
        If the delay is negative or not finite.
    """
    if not 0 <= delay_seconds < inf:  # false for NaN too
        raise ClockError(f"a delay of {delay_seconds} s was asked for at {env.now} s")
    Timeout(env, delay_seconds).callbacks.append(callback)
