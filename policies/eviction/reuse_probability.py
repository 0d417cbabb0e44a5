"""Eviction by the probability of reuse, learned for each label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp

from policies.eviction.prefixed import PrefixEviction
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class ReuseProbability(PrefixEviction):
    """Evict what is least likely to be reused soon, judged by the label of its last user.

    For each label the share of uses that were followed by another and the mean time between them
    are learned; times between uses are modelled as exponential. An entry that was not used for a
    time a is used within the next T with probability share x (exp(-a/mean) - exp(-(a+T)/mean)),
    where T is the mean time from last use to eviction. Within a label the least recently used
    goes first, deeper KV before what lies above it. Times are counted in requests. Without labels
    this is the order of `lru`.

    Source: J. Wang et al., "KVCache cache in the wild: characterizing and optimizing KVCache cache
    at a large cloud provider", USENIX ATC 2025, section 5 (workload-aware eviction).

    Examples
    --------
    Prompts of label 0 are continued, those of label 1 never: `sys` stays, though others are newer.

    >>> from policies.tryout import serve
    >>> prompts = ["sys", "sys1", "sys2", "sys3", "once", "solo", "last", "next", "file"]
    >>> labels = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> serve(prompts, eviction="reuse_probability", labels=labels, capacity_bytes=23).states
    ['file', 'last', 'next', 'sys', 'sys3']
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 0
        self._label = -1
        self._labels: dict[int, _Label] = {}
        self._life, self._lives = 1.0, 1.0

    def observe(self, overlap: Overlap) -> None:
        """Note the label of the request."""
        self._now += 1
        self._label = overlap.label

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent of its label."""
        label = self._labels.get(self._label)
        if label is None:
            label = self._labels[self._label] = _Label()
        label.uses += 1
        label.queue.push(entry)
        entry.rank, entry.policy_data = self._now, label

    def on_hit(self, entry: Entry) -> None:
        """Learn from the time between its uses, and make it the most recent."""
        before: _Label = entry.policy_data
        before.reuses += 1
        before.interval += self._now - entry.rank
        before.queue.discard(entry)
        self.on_insert(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        entry.policy_data.queue.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it, and learn the time from its last use to its eviction."""
        self._life += self._now - entry.rank
        self._lives += 1
        entry.policy_data.queue.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place; each counts a use of its own."""
        if upper.size_bytes:
            label: _Label = lower.policy_data
            upper.rank, upper.policy_data = lower.rank, label
            label.queue.split(upper, lower)
            label.uses += lower.size_bytes > 0

    def victim(self) -> Entry | None:
        """Return the least likely to be used of the least recent entries of all labels."""
        heads = ((label, label.queue.head()) for label in self._labels.values())
        return self._least_likely(heads, self._life / self._lives)

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, each chosen with what those before would teach."""
        outlook = Outlook()
        views = [(label, QueueView(label.queue, outlook)) for label in self._labels.values()]
        life, lives = self._life, self._lives
        while True:
            heads = ((label, view.head()) for label, view in views)
            entry = self._least_likely(heads, life / lives)
            if entry is None:
                return
            yield entry
            for gone in outlook.leaving(entry):
                life += self._now - gone.rank
                lives += 1
            freed = outlook.let_go(entry)
            for _, view in views:
                view.on_evictable(freed)

    def _least_likely(
        self, heads: Iterable[tuple[_Label, Entry | None]], life: float
    ) -> Entry | None:
        """Return the least likely to be used of the least recent entries of all labels."""
        best, least = None, float("inf")
        for label, entry in heads:
            if entry is not None:
                likely = label.probability(self._now - entry.rank, life)
                if likely < least:
                    best, least = entry, likely
        return best


class _Label:
    """The entries of one label by last use, and how often and how soon they were reused."""

    __slots__ = ("interval", "queue", "reuses", "uses")

    def __init__(self) -> None:
        self.queue = Queue()
        self.uses = self.reuses = self.interval = 0

    def probability(self, age: float, life: float) -> float:
        """Return the probability of a use in the next `life` after `age` without one."""
        mean = (self.interval + 1) / (self.reuses + 1)
        share = (self.reuses + 1) / (self.uses + 2)
        return share * (exp(-age / mean) - exp(-(age + life) / mean))
