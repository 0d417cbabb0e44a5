"""The states that each request should write, given all future requests."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from policies.placement.feasible import FeasiblePlan
from policies.placement.tree_law import TreeLaw
from policies.placement.tree_solver import TreePlan
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

Uses = tuple[list[int], list[int]]  # requests that resume there; since when it is held for each


@dataclass(slots=True)
class Schedule:
    """Checkpoint positions by node, each with the requests for which it is held.

    Parameters
    ----------
    trace
        All requests; the number of one is its time.
    wanted
        Node -> position -> its uses; None: whenever a prefill passes.
    """

    trace: Trace
    wanted: dict[int, dict[int, Uses | None]]
    _parent: list[int] = field(init=False)
    _stop: list[int] = field(init=False)
    _end: list[int] = field(init=False)

    def __post_init__(self) -> None:
        trace = self.trace
        self._parent = trace.tree.parent.tolist()
        self._stop = trace.tree.stop.tolist()
        known = trace.leaf if trace.after is None else trace.after
        self._end = np.where(known >= 0, known, trace.leaf).tolist()

    def positions(self, request: int, resume: int) -> list[int]:
        """Return where `request`, which resumes there, should ask for states; ascending."""
        granularity, end = self.trace.granularity, self._end[request]
        positions: list[int] = []
        for node in self.path(end, resume):
            for position, uses in self.wanted.get(node, {}).items():
                if position > resume and (uses is None or _is_held(uses, request)):
                    # The state is stored where this is rounded down to, before the end of a block.
                    asked = position + -position % granularity
                    if asked <= self._stop[end]:
                        positions.append(asked)
        return sorted(positions)

    def path(self, node: int, resume: int = 0) -> Iterator[int]:
        """Yield the nodes from `node` up that reach beyond `resume`."""
        while node != ROOT and self._stop[node] > resume:
            yield node
            node = self._parent[node]


def fixed_schedule(trace: Trace, law: TreeLaw, plan: TreePlan) -> Schedule:
    """Return the schedule that writes the chosen candidates whenever a prefill passes them."""
    wanted: dict[int, dict[int, Uses | None]] = defaultdict(dict)
    rows = zip(law.nodes[plan.chosen].tolist(), law.positions[plan.chosen].tolist(), strict=True)
    for node, position in rows:
        wanted[node][position] = None
    return Schedule(trace, dict(wanted))


def planned_schedule(trace: Trace, plan: FeasiblePlan) -> Schedule:
    """Return the schedule that writes each state of a plan when it is first held for a use.

    If the state is evicted before that use, the next request that computes its position writes it
    again.
    """
    prefixes, occupancy = plan.prefixes, plan.occupancy
    wanted: dict[int, dict[int, Uses | None]] = defaultdict(dict)
    for prefix in range(1, len(prefixes.node)):
        held, kept = occupancy.uses[prefix], occupancy.kept[prefix]
        times, requests, since, start = prefixes.times_of(prefix), [], [], 0
        interval = _next_held(held, 0)
        while interval >= 0:
            start = start if kept[interval] else times[interval]
            user = times[interval + 1]
            if plan.resumes_from[user] == prefix:
                requests.append(user)
                since.append(start)
            interval = _next_held(held, interval + 1)
        if requests:
            wanted[prefixes.node[prefix]][prefixes.position[prefix]] = requests, since
    return Schedule(trace, dict(wanted))


def _next_held(held: bytearray, first: int) -> int:
    """Return the first interval from `first` on in which a state is held, or -1."""
    return next((place for place in range(first, len(held)) if held[place]), -1)


def _is_held(uses: Uses, request: int) -> bool:
    """Say whether a state written by `request` is for the next use."""
    requests, since = uses
    at = bisect_right(requests, request)
    return at < len(requests) and since[at] <= request
