"""The search for the least capacity: a coarse grid, then bisection where the grid allows it.

More memory can be worse, so nothing is assumed between two grid capacities, unless the grid
crosses the target there and stays on the other side at the next capacity too; only then are steps
halved repeatedly. Capacities that contradict the expected order are reported.

Where the smallest of the grid may meet the target already, halves of it are tried too, and where
none does, doubles, two at a time, up to where less or more memory can make no difference.
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
        The least capacity that can be of any use.
    most
        One in which everything fits.
    """

    least: int
    most: int

    def beyond(self, trials: Sequence[Trial]) -> list[int]:
        """Return the capacities to try next, below or above those of the grid, ascending.

        Below where the smallest may meet the target, above where none does.
        """
        first, last = trials[0], trials[-1]
        low, high = first.capacity_bytes, last.capacity_bytes
        below = {max(low >> step, self.least) for step in STEPS} if first.may else set()
        missed = not any(trial.met for trial in trials)
        above = {min(high << step, self.most) for step in STEPS} if missed else set()
        return sorted({c for c in below if c < low} | {c for c in above if c > high})


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where capacities begin to hold a property.

    Parameters
    ----------
    below
        The greatest capacity tried under `least`, which does not hold it; None where the least
        tried holds it.
    least
        The least capacity tried that holds it; None where none does.
    clean
        Whether the next of the grid holds it too, so that the step between may be halved.
    """

    below: int | None
    least: int | None
    clean: bool = True

    def middle(self, within: float) -> int | None:
        """Return the capacity that halves the step; None where it is small or may not be halved."""
        if not self.clean or self.below is None or self.least is None:
            return None
        middle = max(isqrt(self.below * self.least), self.below + 1)  # halves the ratio
        fine = self.least <= self.below * (1 + within)
        return None if fine or middle >= self.least else middle

    def narrowed(self, trial: Trial, side: Side) -> Crossing:
        """Return the half of the step that a trial leaves."""
        if getattr(trial, side):
            return Crossing(self.below, trial.capacity_bytes)
        return Crossing(trial.capacity_bytes, self.least)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """How a search ended.

    Parameters
    ----------
    trials
        All capacities tried, ascending.
    crossings
        Where capacities begin to meet the target perhaps ("may"), by their value ("met"), surely
        ("sure").
    missed_above
        Capacities tried above the least that meets the target, and that miss it all the same.
    uneven
        Whether the metric got worse somewhere in the step of the grid that was halved.
    grid
        The capacities that were tried before any step was halved.
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
    """Search for the least capacity; yields capacities to try, and is sent the trials of them.

    Parameters
    ----------
    grid
        Capacities in bytes, ascending.
    target
        What is asked.
    within
        Steps are halved until they are at most this share of their lower end; 0: to the byte.
    ends
        How far the grid may be extended; None: not at all.
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
