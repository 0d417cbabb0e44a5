"""The common ground of policies that weigh recency against the worth of states."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from policies.eviction.candidates import Candidates, Node
from policies.eviction.lineage import Lineage
from policies.eviction.prefixed import PrefixEviction
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap
from simulator.world import World


class NodeEviction(PrefixEviction):
    """Evicts the node of least recency + worth, each scaled by its range among the candidates.

    A node is a state with the KV between it and the next state above. Candidates are nodes with
    at most one child. One without a child leaves with its KV, from the end; of one with a child
    only the state leaves, and its KV counts for the child from then on. KV behind the last state
    is a node of its own that saves nothing.

    A subclass says what a node is worth (`worth`, which may change only with the state above it),
    how its last use counts (`recency`), and the weights of both.
    """

    spares_states: ClassVar[bool] = True
    recency_weight: float = 1.0
    worth_weight: float = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._state_bytes = self._kv_bytes = 1
        self._now = self._age = 0  # requests; entries so far
        self._candidates = Candidates(self.recency)
        self._lineage = Lineage()

    @abstractmethod
    def worth(self, start: int, stop: int) -> float:
        """Return what the state at `stop` is worth, the next one above lying at `start`."""

    @abstractmethod
    def recency(self, last: Any, now: int) -> Any:
        """Return how a last use by request `last` counts at `now`: a number, or an array of them.

        It must grow with `last`, and not grow with `now`.
        """

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
        self._age += 1
        entry.policy_data = node = Node(entry, self._now, self._age)
        if isinstance(entry, KvRun):
            if is_bare(entry):
                self._candidates.open(node)
            self._note_children(entry.parent, entry.parent.children_resident)
            return
        for changed in self._lineage.add(entry):
            self._price(changed)
        self._price(entry)
        run = entry.run
        if run.children_resident <= 1 or entry.position < run.stop:
            self._candidates.open(node)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._candidates.use(entry.policy_data, self._now)
        if isinstance(entry, KvRun):
            self._note_run(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Consider it again, unless it has more than one child."""
        if isinstance(entry, KvRun):
            self._note_run(entry)
        elif entry.run.children_resident <= 1 or entry.position < entry.run.stop:
            self._candidates.open(entry.policy_data)

    def on_evict(self, entry: Entry) -> None:
        """Forget it; what lies next to it is worth something else now."""
        self._candidates.close(entry.policy_data)
        entry.policy_data = None
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
        node = lower.policy_data
        upper.policy_data = Node(upper, node.last, node.age)
        if not lower.size_bytes:
            self._candidates.close(node)
            lower.policy_data = None
        for run in (upper, lower):
            self._note_run(run)
        self._note_children(upper, upper.children_resident)

    def victim(self) -> Entry | None:
        """Return the state, or the KV that ends in it, of the node of least score."""
        candidates = self._candidates
        while True:
            node = candidates.least(self._now, self.recency_weight, self.worth_weight)
            if node is None:
                return None
            entry = node.entry
            if entry.evictable and (isinstance(entry, Checkpoint) or is_bare(entry)):
                return with_its_kv(entry)
            candidates.close(node)  # in use, or KV that has been shortened to its last state

    def _price(self, checkpoint: Checkpoint) -> None:
        start = self._lineage.above[checkpoint]
        self._candidates.price(checkpoint.policy_data, self.worth(start, checkpoint.position))

    def _note_run(self, run: KvRun) -> None:
        """Make the KV behind the last state of a run a candidate, if there is any."""
        node = run.policy_data
        if node is None:
            return
        if is_bare(run):
            self._candidates.open(node)
        elif node.place >= 0:
            self._candidates.close(node)

    def _note_children(self, run: KvRun, children: int) -> None:
        """Let the state at the end of a run be a candidate if it has at most one child."""
        states = run.checkpoints
        if states and states[-1].position == run.stop:
            node = states[-1].policy_data
            if node is not None and children <= 1:
                self._candidates.open(node)
            elif node is not None:
                self._candidates.close(node)


def is_bare(run: KvRun) -> bool:
    """Say whether `run` holds KV that ends behind its last state, with nothing below."""
    if run.children_resident or run.kv_end == run.start:
        return False
    states = run.checkpoints
    return not states or states[-1].position < run.kv_end


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
