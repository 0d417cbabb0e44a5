"""Search for the least capacity that meets a target: a coarse grid, then bisection.

More memory can make a cache worse, so the metric is not assumed monotone between two capacities of
the grid. A step of the grid is bisected only if the target is missed below it, met above it, and
met at the next capacity too. Capacities that contradict the expected order are reported.

If the smallest capacity of the grid may meet the target already, the grid is extended downwards by
halves; if none meets it, upwards by doubles. Each extension has two capacities, and the grid ends
where less or more memory can make no difference.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isqrt
from typing import Literal

from reports.capacity.evidence import Trial
from reports.capacity.target import Target

Side = Literal["may", "met", "sure"]
Search = Generator[list[int], Mapping[int, Trial], "SearchResult"]
STEPS = (1, 2)
SIDES: tuple[Side, ...] = ("may", "met", "sure")


@dataclass(frozen=True, slots=True)
class GridLimits:
    """Limits to which a grid may be extended.

    Parameters
    ----------
    least
        The least capacity at which the cache can save anything, in bytes.
    most
        A capacity in which everything fits, in bytes.
    """

    least: int
    most: int

    def beyond(self, trials: Sequence[Trial]) -> list[int]:
        """Return the capacities to try next, below or above those of the grid, ascending.

        They are below the grid if its smallest capacity may meet the target, and above if none
        meets it.
        """
        first, last = trials[0], trials[-1]
        low, high = first.capacity_bytes, last.capacity_bytes
        below = {max(low >> step, self.least) for step in STEPS} if first.may else set()
        missed = not any(trial.met for trial in trials)
        above = {min(high << step, self.most) for step in STEPS} if missed else set()
        return sorted({c for c in below if c < low} | {c for c in above if c > high})


@dataclass(frozen=True, slots=True)
class Crossing:
    """The step between two capacities tried in which a property begins to hold.

    Parameters
    ----------
    below
        The greatest capacity tried below `least`, where it does not hold; None if it holds at the
        least capacity tried.
    least
        The least capacity tried at which it holds; None if there is none.
    clean
        Whether it also holds at the next capacity of the grid, so that the step may be bisected.
    """

    below: int | None
    least: int | None
    clean: bool = True

    def middle(self, within: float) -> int | None:
        """Return the geometric middle of the step; None if it is small or may not be bisected."""
        if not self.clean or self.below is None or self.least is None:
            return None
        middle = max(isqrt(self.below * self.least), self.below + 1)  # halves the ratio
        fine = self.least <= self.below * (1 + within)
        return None if fine or middle >= self.least else middle

    def narrowed(self, trial: Trial, side: Side) -> Crossing:
        """Return the half of the step that remains after a trial inside it."""
        if getattr(trial, side):
            return Crossing(self.below, trial.capacity_bytes)
        return Crossing(trial.capacity_bytes, self.least)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of a search.

    Parameters
    ----------
    trials
        All capacities tried, ascending.
    crossings
        The steps in which capacities begin to meet the target: possibly ("may"), by their value
        ("met"), and surely ("sure").
    missed_above
        Capacities that miss the target although a smaller one tried meets it.
    uneven
        Whether the metric got worse with more memory somewhere in the step that was bisected.
    grid
        The capacities that were tried before the bisection.
    """

    trials: tuple[Trial, ...]
    crossings: Mapping[Side, Crossing]
    missed_above: tuple[int, ...]
    uneven: bool
    grid: tuple[int, ...] = ()

    @property
    def least(self) -> Trial | None:
        """The least capacity tried that meets the target."""
        return next((trial for trial in self.trials if trial.met), None)

    @property
    def low(self) -> int | None:
        """The lower end of the interval, which misses the target; None where none was tried."""
        return self.crossings["may"].below

    @property
    def high(self) -> int | None:
        """The upper end of the interval, which meets the target; None where none surely does."""
        return self.crossings["sure"].least


def search(
    grid: Sequence[int], target: Target, within: float, ends: GridLimits | None = None
) -> Search:
    """Search for the least capacity: a generator that yields capacities and is sent their trials.

    Parameters
    ----------
    grid
        Capacities in bytes, ascending.
    target
        The metric and its limit.
    within
        The bisection ends when a step is at most this share of its lower end; 0: one byte.
    ends
        The limits to which the grid may be extended; None: it is not extended.
    """
    trials = dict((yield list(grid)))
    while beyond := ends.beyond([trials[c] for c in grid]) if ends else []:
        trials.update((yield beyond))
        grid = sorted({*grid, *beyond})
    coarse = {side: crossing_of([trials[c] for c in grid], side) for side in SIDES}
    crossings = dict(coarse)
    if not (coarse["met"].clean and coarse["met"].least):
        within = inf
    while middles := _middles(crossings, within):
        wanted = sorted(set(middles.values()) - trials.keys())
        if wanted:
            trials.update((yield wanted))
        for side, middle in middles.items():
            crossings[side] = crossings[side].narrowed(trials[middle], side)
    ordered = tuple(trials[capacity] for capacity in sorted(trials))
    return SearchResult(
        ordered,
        crossings,
        _missed_above(ordered),
        _uneven(ordered, coarse["met"], target),
        tuple(grid),
    )


def crossing_of(trials: Sequence[Trial], side: Side) -> Crossing:
    """Return the first crossing on a grid."""
    held = [getattr(trial, side) for trial in trials]
    if True not in held:
        return Crossing(trials[-1].capacity_bytes, None)
    first = held.index(True)
    below = trials[first - 1].capacity_bytes if first else None
    return Crossing(below, trials[first].capacity_bytes, all(held[first : first + 2]))


def _middles(crossings: Mapping[Side, Crossing], within: float) -> dict[Side, int]:
    middles = ((side, crossing.middle(within)) for side, crossing in crossings.items())
    return {side: middle for side, middle in middles if middle is not None}


def _missed_above(trials: Sequence[Trial]) -> tuple[int, ...]:
    held = [trial.met for trial in trials]
    first = held.index(True) if True in held else len(held)
    return tuple(trial.capacity_bytes for trial in trials[first:] if not trial.met)


def _uneven(trials: Iterable[Trial], step: Crossing, target: Target) -> bool:
    if step.below is None or step.least is None:
        return False
    values = [t.value for t in trials if step.below <= t.capacity_bytes <= step.least]
    sign = 1 if target.metric.less_is_better else -1
    return any(sign * after > sign * before for before, after in pairwise(values))
