"""The states that each request should write, given all future requests."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from policies.placement.holding import Holding
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

    def __post_init__(self) -> None:
        self._parent = self.trace.tree.parent.tolist()
        self._stop = self.trace.tree.stop.tolist()

    def positions(self, request: int, resume: int) -> list[int]:
        """Return where `request`, which resumes there, should write states; ascending."""
        positions: list[int] = []
        for node in self.path(int(self.trace.leaf[request]), resume):
            for position, uses in self.wanted.get(node, {}).items():
                if position > resume and (uses is None or _is_held(uses, request)):
                    positions.append(position)
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


def held_schedule(trace: Trace, holding: Holding) -> Schedule:
    """Return the schedule that writes each state the last time before its use that it can.

    The state at c, with which request r resumes, is written by the last request before r whose
    prefill passes c. If the state is evicted before r, the next request that computes c
    writes it again.
    """
    schedule = Schedule(trace, {})
    uses: dict[int, dict[int, Uses]] = defaultdict(dict)
    resumes = holding.resume.tolist()
    for node, position in zip(holding.node.tolist(), resumes, strict=True):
        if position:
            uses[node][position] = [], []
    last_pass: dict[tuple[int, int], int] = {}
    for request, leaf in enumerate(trace.leaf.tolist()):
        resume, node = resumes[request], int(holding.node[request])
        if resume:
            requests, since = uses[node][resume]
            requests.append(request)
            since.append(last_pass[node, resume])
        for passed in schedule.path(leaf, resume):
            for position in uses.get(passed, ()):
                if position > resume:
                    last_pass[passed, position] = request
    schedule.wanted = {node: dict(there) for node, there in uses.items()}
    return schedule


def _is_held(uses: Uses, request: int) -> bool:
    """Say whether a state written by `request` is for the next use."""
    requests, since = uses
    at = bisect_right(requests, request)
    return at < len(requests) and since[at] <= request
