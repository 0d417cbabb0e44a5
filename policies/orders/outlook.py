"""Evictability of entries under the assumption that others have left."""

from __future__ import annotations

from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Outlook:
    """Simulates evictions one after another, and says which entries are evictable then.

    Nothing changes but this object. A policy that lists its next victims asks it, instead of the
    entry itself, whether an entry is `evictable`.
    """

    __slots__ = ("_children", "_gone")

    def __init__(self) -> None:
        self._gone: set[Entry] = set()
        self._children: dict[Entry, int] = {}  # resident ones, where some of them have left

    def evictable(self, entry: Entry) -> bool:
        """Say whether `entry` is still there, and nothing that is still there needs it."""
        if entry in self._gone:
            return False
        if entry.evictable:
            return True
        return self._children.get(entry, 1) == 0 and not entry.pins

    def leaving(self, entry: Entry) -> list[Entry]:
        """Return what leaves when `entry` does, in order: a span after its states."""
        if isinstance(entry, KvSpan):
            return [*reversed(self.states_of(entry)), entry]
        return [entry]

    def with_kv(self, state: Checkpoint) -> Entry:
        """Return the span whose KV ends with a state, if it is evictable, else the state."""
        span = state.span
        ends = self.states_of(span)[-1:] == [state]
        return span if ends and span.size_bytes and self.evictable(span) else state

    def let_go(self, entry: Entry) -> KvSpan | None:
        """Mark `entry` as evicted, a span with all of its KV and states.

        Returns the span above, if that has become evictable.
        """
        self._gone.add(entry)
        if not isinstance(entry, KvSpan):
            return None
        self._gone.update(entry.checkpoints)
        parent = entry.parent
        left = self._children.get(parent, parent.children_resident) - 1
        self._children[parent] = left
        return parent if not left and not parent.pins and parent.resident else None

    def states_of(self, span: KvSpan) -> list[Checkpoint]:
        """Return the states of `span` that are still there, ascending."""
        gone = self._gone
        return [s for s in span.checkpoints if s not in gone] if gone else span.checkpoints

    def children_of(self, span: KvSpan) -> int:
        """Return how many spans right below `span` still hold KV."""
        return self._children.get(span, span.children_resident)
