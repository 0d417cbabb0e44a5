"""The common ground of policies that score all states at once."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from policies.eviction.lineage import Lineage
from policies.eviction.prefixed import PrefixEviction
from policies.eviction.slots import Slots
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap
from simulator.world import World


class NodeEviction(PrefixEviction):
    """Evicts the node of least score, all candidates being scored anew each time.

    A node is a state with the KV between it and the next state above. Candidates are nodes with
    at most one child. One without a child leaves with its KV, from the end; of one with a child
    only the state leaves, and its KV counts for the child from then on. KV behind the last state
    is a node of its own that saves nothing.

    A subclass says what a node is worth (`worth`, which may change only with the state above it)
    and scores candidates (`scores`).
    """

    def __init__(self) -> None:
        super().__init__()
        self._state_bytes = self._kv_bytes = 1
        self._now = 0  # requests
        self._slots = Slots()
        self._lineage = Lineage()

    @abstractmethod
    def worth(self, start: int, stop: int) -> float:
        """Return what the state at `stop` is worth, the next one above lying at `start`."""

    @abstractmethod
    def scores(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """Score the candidates in these slots."""

    def begin(self, world: World) -> None:
        """Learn the sizes."""
        super().begin(world)
        self._state_bytes = world.sizes.state_bytes
        self._kv_bytes = world.sizes.kv_bytes_per_token

    def observe(self, overlap: Overlap) -> None:
        """Count the request."""
        self._now += 1

    def on_insert(self, entry: Entry) -> None:
        """Take in a new node."""
        self._slots.add(entry, self._now)
        if isinstance(entry, KvRun):
            self._note_run(entry)
            self._note_children(entry.parent, entry.parent.children_resident)
        else:
            for changed in (*self._lineage.add(entry), entry):
                self._price(changed)
            self._note_children(entry.run, entry.run.children_resident)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._slots.last[entry.policy_data] = self._now
        if isinstance(entry, KvRun):
            self._note_run(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Consider it again, unless it has more than one child."""
        if isinstance(entry, KvRun):
            self._note_run(entry)
        else:
            self._slots.open[entry.policy_data] = True
            self._note_children(entry.run, entry.run.children_resident)

    def on_evict(self, entry: Entry) -> None:
        """Forget it; what lies next to it is worth something else now."""
        self._slots.remove(entry)
        if isinstance(entry, KvRun):
            self._note_children(entry.parent, entry.parent.children_resident - 1)
            return
        for changed in self._lineage.remove(entry):
            self._price(changed)
        self._note_run(entry.run)

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Give both parts the age of the whole."""
        self._lineage.split(upper, lower)
        if not upper.size_bytes:
            return
        self._slots.add(upper, self._slots.last[lower.policy_data])
        if not lower.size_bytes:
            self._slots.remove(lower)
        for run in (upper, lower):
            self._note_run(run)
        self._note_children(upper, upper.children_resident)

    def victim(self) -> Entry | None:
        """Return the state, or the KV that ends in it, of the node of least score."""
        slots = self._slots
        while (candidates := slots.candidates()).size:
            slot = int(candidates[np.argmin(self.scores(candidates))])
            entry = slots.entries[slot]
            if entry is not None and entry.evictable:
                return with_its_kv(entry)
            slots.open[slot] = False
        return None

    def _price(self, checkpoint: Checkpoint) -> None:
        start = self._lineage.above[checkpoint]
        self._slots.worth[checkpoint.policy_data] = self.worth(start, checkpoint.position)

    def _note_run(self, run: KvRun) -> None:
        """Make the KV behind the last state of a run a candidate, if there is any."""
        if run.policy_data is not None:
            self._slots.open[run.policy_data] = is_bare(run)

    def _note_children(self, run: KvRun, children: int) -> None:
        """Let the state at the end of a run be a candidate if it has at most one child."""
        states = run.checkpoints
        if states and states[-1].position == run.stop and states[-1].policy_data is not None:
            self._slots.open[states[-1].policy_data] = children <= 1


def is_bare(run: KvRun) -> bool:
    """Say whether the KV of `run` ends behind its last state, with nothing below."""
    states = run.checkpoints
    return not run.children_resident and (not states or states[-1].position < run.kv_end)


def with_its_kv(entry: Entry) -> Entry:
    """Return the run whose KV ends with a state and can go with it, else the entry itself.

    A run whose KV has no bytes is none of the policy's, and has no `policy_data`.
    """
    if isinstance(entry, Checkpoint):
        run = entry.run
        ends = run.checkpoints and run.checkpoints[-1] is entry
        if ends and run.evictable and run.policy_data is not None:
            return run
    return entry


def scaled(values: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Scale to a range of `weight`, but for a constant that no comparison sees.

    All are 0 where they are equal.
    """
    span = values.max() - values.min()
    return values * (weight / span) if span > 0 else np.zeros(len(values))
