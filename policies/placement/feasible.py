"""A plan that a cache of a given capacity can follow: for each request what is held for it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from policies.placement.holding import ResumeOptions
from policies.placement.occupancy import NOTHING, Occupancy, Prefixes
from simulator.trace.trace import Trace

PASSES = 1


class FeasiblePlan:
    """The prefix from which each request resumes, such that all that is held fits at each time.

    A state is written by the last request that computes its position, or before the last one, if
    that resumes from this position or behind it; from then on it is held until its use, and the KV
    before it too. Requests are considered by saved tokens per byte-request, as in the bound of
    holding.py, the most first; what no longer fits is left out.

    Parameters
    ----------
    trace
        All requests.
    options
        Where each request could resume.
    capacity_bytes
        None for unbounded.
    whole_nodes
        Whether the KV of a node of the prefix tree leaves the cache only as a whole.
    """

    def __init__(
        self,
        trace: Trace,
        options: ResumeOptions,
        capacity_bytes: int | None,
        *,
        whole_nodes: bool = False,
    ) -> None:
        if capacity_bytes is not None:
            options = options.within(capacity_bytes)
        self.prefixes = Prefixes(trace, options, whole_nodes=whole_nodes)
        self.occupancy = Occupancy(self.prefixes, options.sizes.state_bytes, capacity_bytes)
        self.resume = [0] * len(trace)
        self.resumes_from: list[int] = [NOTHING] * len(trace)  # the prefix
        self._fill(options)

    @property
    def saved_tokens(self) -> int:
        """The tokens saved by the requests that find what is held for them."""
        return sum(self.resume)

    def _fill(self, options: ResumeOptions) -> None:
        """Take the options one by one, each as far as it fits.

        What did not fit at first may do so when others have moved on to deeper prefixes.
        """
        pairs = zip(options.node.tolist(), options.position.tolist(), strict=True)
        prefixes = [self.prefixes.number[pair] for pair in pairs]
        requests = options.request.tolist()
        left: dict[int, int] = {}  # requests that did not get all, by the row they should have had
        for row in _by_worth(options):
            request = requests[row]
            if request not in left and not self._take(request, prefixes[row]):
                left[request] = row
                self._take_some(request, prefixes, requests, row)
        for _ in range(PASSES):
            for request, row in left.items():
                self._take_some(request, prefixes, requests, row)

    def _take_some(
        self, request: int, prefixes: list[int], requests: list[int], deepest: int
    ) -> None:
        """Let a request resume from the deepest of its prefixes up to a row that fits."""
        position = self.prefixes.position
        low = deepest
        while low > 0 and requests[low - 1] == request:
            low -= 1
        high = deepest + 1  # what fits lies before this
        row = deepest
        while low < high:
            row = high - 1 if high == deepest + 1 else (low + high) // 2
            prefix = prefixes[row]
            if position[prefix] <= self.resume[request] or self._take(request, prefix):
                low = row + 1
            else:
                high = row

    def _take(self, request: int, prefix: int) -> bool:
        """Let a request resume from a prefix, deeper than so far; return whether it fits."""
        before = self.resumes_from[request]
        self.occupancy.begin()
        if before != NOTHING:
            self._release(before, self._interval_before(before, request))
        self.resumes_from[request], self.resume[request] = prefix, self.prefixes.position[prefix]
        if self._need(prefix, self._interval_before(prefix, request)) and self._keep_written(
            request, prefix, before
        ):
            return True
        self.occupancy.take_back()
        self.resumes_from[request], self.resume[request] = before, self.prefixes.position[before]
        return False

    def _need(self, prefix: int, interval: int) -> bool:
        """Hold a state at the end of an interval, since it can be written; return whether it fits.

        Where the request at the start of the interval cannot write it, it is held before, too.
        """
        occupancy, times = self.occupancy, self.prefixes.times_of(prefix)
        while interval >= 0:
            held = occupancy.uses[prefix][interval] > 0
            if not occupancy.use(prefix, interval):
                return False
            if held or self._writes(times[interval], prefix):
                return True
            occupancy.keep(prefix, interval, 1)
            interval -= 1
        return False

    def _release(self, prefix: int, interval: int) -> None:
        """Hold a state at the end of an interval for one use less."""
        occupancy = self.occupancy
        while True:
            occupancy.use_less(prefix, interval)
            if occupancy.uses[prefix][interval] or not occupancy.kept[prefix][interval]:
                return
            occupancy.keep(prefix, interval, 0)
            interval -= 1

    def _keep_written(self, request: int, prefix: int, before: int) -> bool:
        """Hold since earlier what `request` would have written between two prefixes.

        It resumes from the deeper one now, and so computes nothing before it.
        """
        occupancy = self.occupancy
        while prefix != before and self.prefixes.position[prefix] > self.prefixes.position[before]:
            interval = self._interval_before(prefix, request) + 1
            if occupancy.uses[prefix][interval] and not occupancy.kept[prefix][interval]:
                occupancy.keep(prefix, interval, 1)
                if not self._need(prefix, interval - 1):
                    return False
            prefix = self.prefixes.above[prefix]
        return True

    def _writes(self, request: int, prefix: int) -> bool:
        """Return whether a request that passes a prefix can write its state."""
        prefixes = self.prefixes
        before = self.resume[request] < prefixes.position[prefix]
        return before and prefixes.wanted[prefix] <= prefixes.end[request]

    def _interval_before(self, prefix: int, request: int) -> int:
        """Return the interval of a prefix that ends at a request."""
        return bisect_left(self.prefixes.times_of(prefix), request) - 1


def _by_worth(options: ResumeOptions) -> list[int]:
    """Return the rows that some price prefers, those of the highest price first."""
    rows, prices = [], []
    requests, positions = options.request.tolist(), options.position.tolist()
    costs = options.cost.tolist()
    hull: list[int] = []
    slopes: list[float] = []
    last = -1
    for row, request in enumerate([*requests, -1]):
        if request != last:
            rows += hull
            prices += slopes
            hull, slopes, last = [], [], request
        if request < 0:
            break
        while True:
            below = hull[-1] if hull else -1
            more = positions[row] - (positions[below] if hull else 0)
            cost = costs[row] - (costs[below] if hull else 0.0)
            slope = more / cost if cost > 0.0 else float("inf")
            if not hull or slope < slopes[-1]:
                break
            hull.pop()
            slopes.pop()
        if more > 0:
            hull.append(row)
            slopes.append(slope)
    order = np.argsort(-np.array(prices), kind="stable")
    return [rows[index] for index in order.tolist()]
