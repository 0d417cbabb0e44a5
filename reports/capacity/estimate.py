"""Cost estimate of a capacity search, for `capacity --dry-run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, log, log1p, log2
from typing import Any

from reports.capacity.candidates import (
    Candidate,
    candidates,
    coarse_grid,
    ends_of,
)
from reports.capacity.finding import CapacityQuestion, refuse_clockless
from reports.capacity.search import SIDES, STEPS
from reports.capacity.variations import VARIATIONS, WORKLOADS_VARIED
from reports.execution.estimate import CELL_BYTES, REQUEST_BYTES, facts_by_trace
from reports.execution.runner import REQUESTS_PER_SECOND, START_SECONDS
from reports.study.traces import TraceFacts

FURTHER = 6  # halves and doubles that the grid of a variation may go beyond those as asked
PAGE_BYTES = 1_000_000
Facts = Mapping[str, TraceFacts]


@dataclass(frozen=True, slots=True)
class Bill:
    """Simulations that the search for one candidate needs, over its replications.

    Parameters
    ----------
    replications, requests
        Its cells at one capacity, and the requests of these together.
    coarse
        Capacities of the grid to begin with.
    beyond
        Most capacities by which it is extended.
    halvings
        Most steps from there, for each end of the interval and the answer itself.
    """

    replications: int
    requests: int
    coarse: int
    beyond: int
    halvings: int

    @property
    def most(self) -> int:
        """Most capacities that are tried, and the cache that keeps everything."""
        return self.coarse + self.beyond + len(SIDES) * self.halvings + 1


def estimate_capacity(question: CapacityQuestion, jobs: int) -> dict[str, Any]:
    """Return the cells, requests, minutes and disk of a search; nothing is simulated.

    How many cells it takes depends on what they show: at least the coarse grid, at most every
    halving for both ends of every interval, and all variations of the dearest answer, whose grid
    may reach further for a model of other sizes.

    Raises
    ------
    UsageError, DataError
        As the search itself would.
    """
    _, sought, stated = candidates(question.settings)
    refuse_clockless(question, sought)
    facts = facts_by_trace(cell for candidate in sought for cell in candidate.cells)
    bills = [_bill(one, facts, stated, question.within) for one in sought]
    moved: list[Bill] = []
    if question.sensitivity:
        dearest = max(bills, key=lambda bill: bill.requests * bill.most)
        wide = replace(dearest, beyond=dearest.beyond + FURTHER)
        moved = [wide] * (len(VARIATIONS) + 1)  # and once more as asked, on the same grid
    rounds = sum(
        1 + max(ceil(bill.beyond / len(STEPS)) + bill.halvings for bill in part)
        for part in (bills, moved)
        if part
    )
    least = sum(bill.requests * bill.coarse for bill in bills)
    most = sum(bill.requests * bill.most for bill in [*bills, *moved])
    cells = sum(bill.replications * bill.most for bill in [*bills, *moved])
    workloads = 1 + WORKLOADS_VARIED * question.sensitivity
    stored = sum(fact.requests for fact in facts.values()) * REQUEST_BYTES * workloads
    return {
        "combinations": len(sought),
        "replications": bills[0].replications,
        "cells_at_least": sum(bill.replications * bill.coarse for bill in bills),
        "cells_at_most": cells,
        "requests_at_least": least,
        "requests_at_most": most,
        "jobs": jobs,
        "minutes_at_least": _minutes(least, jobs, 1),
        "minutes_at_most": _minutes(most, jobs, rounds),
        "disk_bytes_at_most": stored + cells * CELL_BYTES + PAGE_BYTES,
    }


def _bill(candidate: Candidate, facts: Facts, stated: Sequence[int | None], within: float) -> Bill:
    own = [facts[cell.trace] for cell in candidate.cells]
    grid, ends = coarse_grid(candidate, own, stated), ends_of(candidate, own)
    beyond = _doubles(ends.least, grid[0]) + _doubles(grid[-1], ends.most)
    widest = max(grid[0], ends.most)
    steps = [*pairwise(grid), *([(widest >> 1, widest)] if beyond else [])]
    halvings = max((_halvings(low, high, within) for low, high in steps), default=0)
    return Bill(len(own), sum(fact.requests for fact in own), len(grid), beyond, halvings)


def _doubles(low: int, high: int) -> int:
    """Return how many doubles lead from one capacity to another."""
    return ceil(log2(high / low)) if 0 < low < high else 0


def _halvings(low: int, high: int, within: float) -> int:
    """Return how often a step is halved by its ratio until it is small, or of one byte."""
    bytes_apart = ceil(log2(max(high - low, 1)))
    if not within or not low:
        return bytes_apart
    return min(bytes_apart, max(0, ceil(log2(max(log(high / low) / log1p(within), 1.0)))))


def _minutes(requests: int, jobs: int, rounds: int) -> float:
    """Return the minutes of so many requests, workers being started anew in every round."""
    return round((START_SECONDS * rounds + requests / REQUESTS_PER_SECOND / jobs) / 60, 2)
