"""Markov-modulated Poisson arrivals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError, printable
from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, unit_poisson
from workloads.randomness import stream

_MOST_STATES = 64
_LARGEST = 1e9
_MOST_JUMPS = 10**8


@dataclass(frozen=True, slots=True)
class Mmpp(ArrivalProcess):
    """A Markov-modulated Poisson process: a Poisson process whose rate jumps between states.

    Sojourns in a state are exponential, and the next state is any other with equal chance. The
    share of time in a state is therefore proportional to its mean sojourn, and so is the chance
    that the first state is drawn.

    Parameters
    ----------
    rate
        Mean requests per second over all states.
    levels
        Rates of the states relative to each other, two or more, 0 for silence: "1/10".
    sojourns
        Mean sojourns in the states, in seconds: "300/30".
    """

    levels: str = "1/10"
    sojourns: str = "300/30"

    def problem(self) -> str | None:
        """Return what is wrong with `levels` or `sojourns`, None if both are sound."""
        for name in ("levels", "sojourns"):
            text = getattr(self, name)
            if _numbers(text) is None:
                shown = printable(repr(text))
                return f"{name}: expected 2 to {_MOST_STATES} numbers as in 1/10, found {shown}"
        levels, sojourns = self.states()
        if len(levels) != len(sojourns):
            return f"sojourns: expected {len(levels)} as in levels, found {len(sojourns)}"
        if sojourns.min() <= 0:
            return f"sojourns: expected seconds above 0, found {printable(repr(self.sojourns))}"
        if levels.max() <= 0:
            return f"levels: expected one above 0, found {printable(repr(self.levels))}"
        return None

    def states(self) -> tuple[Float64, Float64]:
        """Return each state's rate relative to the mean rate, and its mean sojourn in seconds."""
        levels, sojourns = np.array(_numbers(self.levels)), np.array(_numbers(self.sojourns))
        if len(levels) == len(sojourns) and levels.max() > 0:
            levels *= sojourns.sum() / float(levels @ sojourns)
        return levels, sojourns

    def _draw(self, count: int, seed: int) -> Float64:
        points = unit_poisson(stream(seed, "arrivals"), count)
        levels, sojourns = self.states()
        # the integral of the relative rate that the path of states must reach
        horizon = float(points[-1]) / self.rate_per_second
        if horizon / sojourns.mean() > _MOST_JUMPS:
            text = f"more than {_MOST_JUMPS:,} jumps within the trace"
            raise UsageError(f"sojourns: expected longer ones than {self.sojourns}: {text}")
        state, seconds = _path(stream(seed, "states"), levels, sojourns, horizon)
        ends = np.concatenate([[0.0], np.cumsum(seconds)])
        come = np.cumsum(seconds * levels[state]) * self.rate_per_second
        times: Float64 = np.interp(points, np.concatenate([[0.0], come]), ends)
        return times


def _path(
    random: np.random.Generator, levels: Float64, sojourns: Float64, horizon: float
) -> tuple[NDArray[np.int64], Float64]:
    """Draw the states, and the seconds in each, until the integrated rate exceeds `horizon`."""
    states = len(levels)
    first = int(np.searchsorted(np.cumsum(sojourns)[:-1] / sojourns.sum(), random.random()))
    state = np.zeros(0, dtype=np.int64)
    seconds = np.zeros(0)
    come = 0.0
    while come <= horizon:
        length = 64 + int(1.2 * (horizon - come) / sojourns.mean())
        steps = random.integers(1, states, size=length)  # to any other state
        drawn = (first + np.concatenate([[0], np.cumsum(steps)])) % states
        first = int(drawn[-1])
        spells = sojourns[drawn[:-1]] * random.standard_exponential(length)
        state, seconds = np.concatenate([state, drawn[:-1]]), np.concatenate([seconds, spells])
        come += float(spells @ levels[drawn[:-1]])
    return state, seconds


def _numbers(text: str) -> list[float] | None:
    """Return the numbers of a text such as "1/10", None if it is not such a list."""
    try:
        numbers = [float(part) for part in text.split("/")]
    except (ValueError, AttributeError):
        return None
    sound = all(math.isfinite(number) and 0 <= number <= _LARGEST for number in numbers)
    return numbers if sound and 2 <= len(numbers) <= _MOST_STATES else None
