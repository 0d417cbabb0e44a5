"""Points of a study for charts and pages: policies at capacities, against a baseline.

A *world* is the workload, profile and server that policies share. A *series* is one
combination of policies and pools in it, and a *point* a series at one capacity, over its
replications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from reports.palette import Look, assigned
from reports.results.evidence import Metric, Row, difference, mean_of
from reports.results.margins import Margins
from reports.results.marks import UPPER_BOUND
from reports.statistics import Estimate

UNBOUNDED = "unbounded"
MOST_SERIES = 24
_OUTCOME = ("saved_tokens", "ttft_mean_seconds", "cache_mean_bytes", "checkpoints_written")


@dataclass(frozen=True, slots=True)
class Series:
    """One combination of policies."""

    name: str  # the placer with its parameters, and whatever else varies in the study
    placer: str  # the placer with its parameters
    others: tuple[str, ...]  # values of the other policy keys, in the order of the study
    # why it is no fair competitor: UPPER_BOUND, LOOKS_AHEAD; empty for most
    marks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name with its marks."""
        return f"{self.name} ({', '.join(self.marks)})" if self.marks else self.name

    def shared(self, other: Series) -> int:
        """Return how many of the other policy keys have the same value in another series."""
        return sum(mine == its for mine, its in zip(self.others, other.others, strict=True))


def subjects(series: Sequence[Series]) -> list[str]:
    """Return what gives each series its look: the first kind of policy in which they differ."""
    kinds = [[item.placer for item in series]]
    kinds += [list(values) for values in zip(*(item.others for item in series), strict=True)]
    return next((kind for kind in kinds if len(set(kind)) > 1), kinds[0])


def looks_of(series: Sequence[Series]) -> dict[str, Look]:
    """Return how each series of a study is drawn, by its name; `series` are all that it has."""
    return assigned(dict(zip((s.name for s in series), subjects(series), strict=True)))


@dataclass(frozen=True, slots=True)
class Point:
    """A series at one capacity. Differences are this less the baseline at the same capacity."""

    series: Series
    capacity: str
    rows: tuple[Row, ...]  # the cells that finished, by replication
    failed: int  # how many did not
    deterministic: bool
    # None where no cell has a value
    token_hit_rate: Estimate | None
    ttft_seconds: Estimate | None
    token_hit_rate_difference: Estimate | None = None
    ttft_difference: Estimate | None = None

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over replications; None where it is missing in one."""
        return mean_of(self.rows, metric)

    def total(self, metric: str) -> int:
        """Return the sum of a count over replications."""
        return sum(int(row.get(metric) or 0) for row in self.rows)

    def share(self, metric: str) -> float:
        """Return the sum of a token count as a share of all prompt tokens."""
        return self.total(metric) / max(self.total("prompt_tokens"), 1)

    @property
    def bound_tokens(self) -> int | None:
        """The upper bound on saved tokens at this capacity; None where it is not known."""
        bounds = [row.get("bound_saved_tokens") for row in self.rows]
        known = [int(bound) for bound in bounds if bound is not None]
        return sum(known) if known and len(known) == len(bounds) else None

    @property
    def share_of_bound(self) -> float | None:
        """The saved tokens as a share of the bound; None too for a placer whose states are free."""
        bound = self.bound_tokens
        free = UPPER_BOUND in self.series.marks
        return None if free or not bound else self.total("saved_tokens") / bound

    def less(self, other: Point, metric: Metric) -> Estimate | None:
        """Return the difference `self - other`, paired by replication or by block of time."""
        return difference(self.rows, other.rows, metric, self.deterministic)


@dataclass(frozen=True)
class WorldPoints:
    """The points of one world, at every capacity."""

    name: str  # what tells it from the other worlds; empty where there is one
    # in the order of the study; capacities ascending, unbounded last
    series: tuple[Series, ...]
    capacities: tuple[str, ...]
    points: dict[tuple[str, str], Point]  # by series name and capacity
    baseline: dict[str, str]  # series name -> series name of its baseline
    # series name -> lead in token hit rate of the best at the focus capacity, for series that no
    # difference from a baseline compares with the best
    behind: dict[str, Estimate] = field(default_factory=dict)
    # what the policies served; equal for worlds that differ in profile, server or rate alone
    workload: str = ""
    comparisons: int = 0  # of the whole study, that its differences are corrected for
    warmed: bool = False  # whether the first requests are not counted
    margins: Margins = field(default_factory=Margins)  # within what figures are called tied
    # the look in charts of each series of the whole study, by its name
    styles: dict[str, Look] = field(default_factory=dict)

    @cached_property
    def looks(self) -> dict[str, Look]:
        """The look of each series, by its name: the same in every world of a study."""
        return self.styles or looks_of(self.series)

    @cached_property
    def focus(self) -> str:
        """The capacity of the headline answer: the middle one, where most series finished."""
        alive = {c: sum(bool(p.rows) for p in self.at(c)) for c in self.capacities}
        full = [c for c in self.capacities if alive[c] == max(alive.values())]
        bounded = [c for c in full if c != UNBOUNDED] or full
        return bounded[(len(bounded) - 1) // 2]

    def at(self, capacity: str) -> list[Point]:
        """Return the points at `capacity`, in the order of the series."""
        keys = ((series.name, capacity) for series in self.series)
        return [self.points[key] for key in keys if key in self.points]

    @property
    def place(self) -> str:
        """The focus (the headline's capacity) in words, to follow "at"."""
        return f"{UNBOUNDED} capacity" if self.focus == UNBOUNDED else self.focus

    @cached_property
    def best(self) -> Point | None:
        """The competitor with the highest token hit rate at the focus; the faster of equals.

        An upper bound or a clairvoyant policy is chosen only where there is nothing else.
        """
        alive = [point for point in self.at(self.focus) if point.token_hit_rate]
        fair = [point for point in alive if not point.series.marks] or alive
        return max(fair, key=_merit, default=None)

    def gap(self, rival: Point) -> Estimate | None:
        """Return the lead in token hit rate of the best over a rival, at the focus capacity."""
        best = self.best
        if best is None:
            return None
        if self.baseline_of(best) is rival:
            return best.token_hit_rate_difference
        if self.baseline_of(rival) is best:
            theirs = rival.token_hit_rate_difference
            return theirs and theirs.opposite
        return self.behind.get(rival.series.name)

    @cached_property
    def shown(self) -> WorldPoints:
        """The world with only the series that fit into a chart: the best at the focus capacity.

        Of series that are `alike`, one is preferred and the others come last.
        """
        if len(self.series) <= MOST_SERIES:
            return self
        kept = {self.best.series.name, self.baseline[self.best.series.name]} if self.best else set()
        ranked = sorted(self.at(self.focus), key=_merit, reverse=True)
        names = [point.series.name for point in ranked if point.series.name not in kept]
        names.sort(key={name for group in self.alike.values() for name in group}.__contains__)
        kept.update(names[: MOST_SERIES - len(kept)])
        return replace(self, series=tuple(s for s in self.series if s.name in kept))

    @cached_property
    def alike(self) -> dict[str, tuple[str, ...]]:
        """Series name -> names of the later series with the same results at every capacity."""
        groups: dict[tuple[object, ...], list[str]] = {}
        for series in self.series:
            groups.setdefault(self._results(series), []).append(series.name)
        return {first: tuple(others) for first, *others in groups.values() if others}

    def _results(self, series: Series) -> tuple[object, ...]:
        """Return what is the same for two series that do the same; the name of one that failed."""
        points = [self.points.get((series.name, capacity)) for capacity in self.capacities]
        if not all(point and point.rows and not point.failed for point in points):
            return (series.name,)
        outcomes = (tuple(map(_outcome, point.rows)) for point in points if point)
        return (series.marks, *outcomes)

    @cached_property
    def baseline_name(self) -> str:
        """The placer of all baselines; the whole name of the first series where one placer ran."""
        names = {name for name in self.baseline.values() if name != ""}
        placers = {s.placer for s in self.series if s.name in names}
        return next(iter(names)) if len(names) == 1 else ", ".join(sorted(placers))

    def baseline_of(self, point: Point) -> Point | None:
        """Return the point that `point` is compared with, or None where it is the baseline."""
        name = self.baseline[point.series.name]
        return None if name == point.series.name else self.points.get((name, point.capacity))


def _outcome(row: Row) -> tuple[object, ...]:
    return tuple(row.get(name) for name in _OUTCOME)


def _merit(point: Point) -> tuple[float, float]:
    rate = point.token_hit_rate.value if point.token_hit_rate else 0.0
    return rate, -(point.ttft_seconds.value if point.ttft_seconds else np.inf)
