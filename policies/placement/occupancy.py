"""The memory that a plan holds at each time: KV and states of prefixes between their uses."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict

import numpy as np

from policies.placement.holding import ResumeOptions, paths
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

NOTHING = 0  # the prefix without tokens
_UNBOUNDED = 1 << 61


class Prefixes:
    """The prefixes that a plan can hold: each ends where a request could resume, or a node ends.

    A prefix continues the one above it, and is numbered after it. It is passed at the times of the
    requests that pass its node, and held in intervals from one of them to the next.

    Parameters
    ----------
    trace
        All requests.
    options
        Where each request could resume.
    whole_nodes
        Whether the KV of a node of the prefix tree leaves the cache only as a whole.
    """

    def __init__(self, trace: Trace, options: ResumeOptions, *, whole_nodes: bool) -> None:
        tree, sizes, grid = trace.tree, options.sizes, options.grid
        parent, stop = tree.parent.tolist(), tree.stop.tolist()
        pairs: set[tuple[int, int]] = set(
            zip(options.node.tolist(), options.position.tolist(), strict=True)
        )
        for node in {node for node, _ in pairs}:
            above = parent[node]
            while above != ROOT and (above, stop[above]) not in pairs:
                pairs.add((above, stop[above]))
                above = parent[above]
        ordered = sorted(pairs)  # parents stand before children in a prefix tree
        self.node: list[int] = [ROOT, *(node for node, _ in ordered)]
        self.position: list[int] = [0, *(position for _, position in ordered)]
        self.number = {pair: number for number, pair in enumerate(ordered, 1)}
        self.of_node: dict[int, list[int]] = defaultdict(list)  # ascending in position
        for number, node in enumerate(self.node[1:], 1):
            self.of_node[node].append(number)
        self.times: dict[int, list[int]] = {node: [] for node in self.of_node}
        self.end: list[int] = []  # of each request's path, in tokens
        self._note_passes(trace)
        page = sizes.page_tokens
        self.above, self.kv_end, self.kv_bytes = [NOTHING], [0], [0]
        for number in range(1, len(self.node)):
            node, position = self.node[number], self.position[number]
            same = self.node[number - 1] == node
            above = number - 1 if same else self.of_node.get(parent[node], [NOTHING])[-1]
            end = stop[node] if whole_nodes else min(stop[node], position + -position % page)
            self.above.append(above)
            self.kv_end.append(end)
            self.kv_bytes.append(sizes.kv_bytes_per_token * (end - self.kv_end[above]))
        # A state is stored at a position if the one that is rounded down to it is on the path.
        self.wanted: list[int] = [
            position + -position % grid.granularity for position in self.position
        ]

    def _note_passes(self, trace: Trace) -> None:
        stop, times = trace.tree.stop.tolist(), self.times
        for request, (prompt, answer) in enumerate(paths(trace)):
            self.end.append(stop[answer[0] if answer else prompt[-1]])
            for node in (*prompt, *answer):
                passes = times.get(node)
                if passes is not None:
                    passes.append(request)

    def times_of(self, prefix: int) -> list[int]:
        """Return the numbers of the requests that pass a prefix, ascending."""
        return self.times[self.node[prefix]]

    def interval(self, prefix: int, time: int) -> int:
        """Return the interval of a prefix that contains `time` or starts there; -1 before all."""
        return bisect_right(self.times_of(prefix), time) - 1


class Occupancy:
    """The bytes that are held when each request stores, and what holds them.

    An interval of a prefix takes its bytes from the request at its start to the one at its end,
    both included: the first stores what is held, and the last uses it until it ends.

    Parameters
    ----------
    prefixes
        What can be held.
    state_bytes, capacity_bytes
        Bytes of a state, and of the cache; None for unbounded.
    """

    def __init__(self, prefixes: Prefixes, state_bytes: int, capacity_bytes: int | None) -> None:
        self.prefixes = prefixes
        self._state_bytes = state_bytes
        self._most_bytes = _UNBOUNDED if capacity_bytes is None else capacity_bytes
        self._used = np.zeros(len(prefixes.end) + 1, np.int64)
        # By prefix and interval: whether its KV is held; how many uses its state has; and whether
        # the state was held in the interval before, too, rather than written at the start of this.
        self.kv: list[bytearray] = []
        self.uses: list[bytearray] = []
        self.kept: list[bytearray] = []
        for prefix in range(len(prefixes.node)):
            intervals = len(prefixes.times_of(prefix)) if prefix else 0
            for flags in (self.kv, self.uses, self.kept):
                flags.append(bytearray(intervals))
        self._added: list[tuple[int, int, int]] = []  # first time, the one after the last, bytes
        self._changed: list[tuple[bytearray, int, bytearray]] = []  # place, and what was there

    def begin(self) -> None:
        """Start a change that can be taken back."""
        self._added, self._changed = [], []

    def take_back(self) -> None:
        """Take back all since `begin`."""
        for first, last, size_bytes in self._added:
            self._used[first:last] -= size_bytes
        for flags, first, before in reversed(self._changed):
            flags[first : first + len(before)] = before
        self.begin()

    def use(self, prefix: int, interval: int) -> bool:
        """Hold a state, and the KV before it, for one use more; return whether it fits."""
        uses = self.uses[prefix]
        self._set(uses, interval, uses[interval] + 1)
        if uses[interval] > 1:
            return True
        times = self.prefixes.times_of(prefix)
        slots = self._slots(times, uses, interval, interval)
        return self._hold_kv(prefix, times[interval], times[interval + 1]) and self._add(
            *slots, self._state_bytes
        )

    def use_less(self, prefix: int, interval: int) -> None:
        """Hold a state for one use less; the KV stays."""
        uses = self.uses[prefix]
        self._set(uses, interval, uses[interval] - 1)
        if not uses[interval]:
            times = self.prefixes.times_of(prefix)
            self._add(*self._slots(times, uses, interval, interval), -self._state_bytes)

    def keep(self, prefix: int, interval: int, kept: int) -> None:
        """Set whether a state was held before an interval, rather than written at its start."""
        self._set(self.kept[prefix], interval, kept)

    def _set(self, flags: bytearray, place: int, value: int) -> None:
        self._changed.append((flags, place, flags[place : place + 1]))
        flags[place] = value

    def _hold_kv(self, prefix: int, since: int, until: int) -> bool:
        """Hold the KV of a prefix and those above it from one request that passes it to another."""
        prefixes = self.prefixes
        while prefix != NOTHING:
            times, flags = prefixes.times_of(prefix), self.kv[prefix]
            first, last = bisect_left(times, since), bisect_left(times, until)
            empty = flags.find(0, first, last)
            if empty < 0:
                return True  # what is above is held as long
            size_bytes = prefixes.kv_bytes[prefix]
            while empty >= 0:
                end = flags.find(1, empty, last)
                end = last if end < 0 else end
                slots = self._slots(times, flags, empty, end - 1)
                self._changed.append((flags, empty, flags[empty:end]))
                flags[empty:end] = b"\1" * (end - empty)
                if size_bytes and not self._add(*slots, size_bytes):
                    return False
                empty = flags.find(0, end, last)
            prefix = prefixes.above[prefix]
        return True

    def _slots(self, times: list[int], held: bytearray, first: int, last: int) -> tuple[int, int]:
        """Return the times that intervals take which their neighbours do not, as a range."""
        after = last + 1
        since = times[first] + (first > 0 and held[first - 1] > 0)
        return since, times[after] + (not held[after])

    def _add(self, first: int, last: int, size_bytes: int) -> bool:
        used = self._used[first:last]
        used += size_bytes
        self._added.append((first, last, size_bytes))
        return size_bytes < 0 or not len(used) or int(used.max()) <= self._most_bytes
