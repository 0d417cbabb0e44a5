"""The states that each request should write, given all future requests."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from policies.placement.feasible import FeasiblePlan
from policies.placement.holding import paths
from policies.placement.tree_law import TreeLaw
from policies.placement.tree_solver import TreePlan
from simulator.results.result import Result
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
    logged
        By request: the positions of the states that it writes, instead of those wanted.
    """

    trace: Trace
    wanted: dict[int, dict[int, Uses | None]]
    logged: list[list[int]] | None = None
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
        if self.logged is not None:
            return [
                position + -position % granularity
                for position in self.logged[request]
                if position > resume
            ]
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


def resumed_schedule(trace: Trace, resume: NDArray[np.int64]) -> Schedule:
    """Return the schedule that writes each state the last time before its use that it can.

    The state at c, with which request r resumes, is written by the last request before r that
    computes c: one that resumes before c itself.

    Parameters
    ----------
    trace
        All requests.
    resume
        One a request: tokens; 0 for nothing.
    """
    resumes, start = resume.tolist(), trace.tree.start.tolist()
    holders: list[int] = []  # the node in which each request resumes
    wanted: dict[int, dict[int, Uses | None]] = defaultdict(dict)
    uses: dict[int, dict[int, Uses]] = defaultdict(dict)
    walked = list(paths(trace))
    for (prompt, _), position in zip(walked, resumes, strict=True):
        holders.append(prompt[bisect_left(prompt, position, key=start.__getitem__) - 1])
        if position:
            wanted[holders[-1]][position] = uses[holders[-1]][position] = [], []
    last_pass: dict[tuple[int, int], int] = {}
    for request, (prompt, answer) in enumerate(walked):
        position, node = resumes[request], holders[request]
        if position and (since := last_pass.get((node, position))) is not None:
            uses[node][position][0].append(request)
            uses[node][position][1].append(since)
        for passed in (*prompt, *answer):
            for held in uses.get(passed, ()):
                if held > position:
                    last_pass[passed, held] = request
    return Schedule(trace, dict(wanted))


def logged_schedule(trace: Trace, result: Result) -> Schedule:
    """Return the schedule that writes what was stored in a replay, by the same requests."""
    schedule = Schedule(trace, {})
    ends = np.cumsum(result.columns["checkpoints_written"]).tolist()
    positions = result.positions.tolist()
    schedule.logged = [positions[first:last] for first, last in zip([0, *ends], ends, strict=False)]
    return schedule


def _next_held(held: bytearray, first: int) -> int:
    """Return the first interval from `first` on in which a state is held, or -1."""
    return next((place for place in range(first, len(held)) if held[place]), -1)


def _is_held(uses: Uses, request: int) -> bool:
    """Say whether a state written by `request` is for the next use."""
    requests, since = uses
    at = bisect_right(requests, request)
    return at < len(requests) and since[at] <= request
