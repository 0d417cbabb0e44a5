"""Cache entries: KV spans and checkpoints."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Any, Final


class KvSpan:
    """The KV of consecutive tokens that all prompts seen so far share: an edge of a radix tree.

    It covers the tokens `(start, stop]`, counted from the start of the prompt; their KV is resident
    over `(start, kv_end]`. It is created for all tokens that one request is the first to bring, and
    split when a later request ends or diverges inside it.

    If a span holds any KV, every span above it is completely resident. So a span is evicted from
    its end, and only while no span below it holds KV. Without KV it stays in memory, since it
    records what happened to its tokens, for loss attribution. The root is its own parent, which
    ends every walk.

    The attributes `rank`, `queued` and `policy_data` belong to the eviction policy, all others to
    the cache.
    """

    __slots__ = (
        "checkpoints",
        "children_resident",
        "children_seen",
        "done_end",
        "dropped",
        "kv_admitted_end",
        "kv_end",
        "node",
        "parent",
        "pins",
        "policy_data",
        "queued",
        "rank",
        "request",
        "size_bytes",
        "start",
        "stop",
        "wanted",
    )

    def __init__(
        self, parent: KvSpan | None, start: int, stop: int, node: int = 0, request: int = -1
    ) -> None:
        self.parent: KvSpan = self if parent is None else parent
        self.start = start
        self.stop = stop
        self.node = node  # the prefix-tree node at which it ends
        # The request that created the span. With `stop` it identifies the prefix that ends here,
        # independently of later splits and of all policies.
        self.request = request
        self.kv_end = start  # any KV is resident if this is larger than `start`
        self.kv_admitted_end = start  # last token whose KV was ever stored
        self.size_bytes = 0
        self.done_end = start  # last token that any request has computed
        self.children_seen = 0
        self.children_resident = 0
        self.pins = 0
        # Ascending. Most spans never hold any, so they share empty lists, which are never modified.
        self.checkpoints: list[Checkpoint] = NO_CHECKPOINTS  # resident
        self.dropped: list[int] = NO_POSITIONS  # positions of evicted checkpoints
        self.wanted: list[int] = NO_POSITIONS  # requested positions that were rounded down
        self.rank: Any = 0
        self.queued: int = 0
        self.policy_data: Any = None

    @property
    def key(self) -> KvSpan:
        """An identifier of the span for policies, valid after eviction: the span itself."""
        return self

    @property
    def resident(self) -> bool:
        """Whether any KV of the span is resident."""
        return self.kv_end > self.start

    @property
    def evictable(self) -> bool:
        """Whether the span holds KV, is not pinned, and no span below it holds KV."""
        return self.kv_end > self.start and not self.pins and not self.children_resident

    @property
    def depth(self) -> int:
        """Tokens from the start of the prompt to the end of the resident KV."""
        return self.kv_end

    def deepest_checkpoint(self, limit: int) -> Checkpoint | None:
        """Return the span's deepest resident checkpoint at or before token `limit`, or None."""
        checkpoints = self.checkpoints
        if not checkpoints:
            return None
        if checkpoints[-1].position <= limit:
            return checkpoints[-1]
        index = _count_upto(checkpoints, limit)
        return checkpoints[index - 1] if index else None

    def cut(self, stop: int, node: int) -> KvSpan:
        """Split off the part of the span up to token `stop` as a new parent; return the new span.

        Pins stay on this span, and the new one has no data of the eviction policy yet.

        Parameters
        ----------
        stop
            Where to split, in tokens from the start of the prompt.
        node
            The prefix-tree node at which the new span ends.
        """
        upper = KvSpan(self.parent, self.start, stop, node, self.request)
        upper.children_seen = 1
        kv_end, admitted, done_end = self.kv_end, self.kv_admitted_end, self.done_end
        if kv_end > stop:
            upper.children_resident = 1
        if kv_end > self.start:
            upper.kv_end = end = stop if kv_end > stop else kv_end
            upper.size_bytes = self.size_bytes * (end - self.start) // (kv_end - self.start)
            self.size_bytes -= upper.size_bytes
        upper.kv_admitted_end = stop if admitted > stop else admitted
        upper.done_end = stop if done_end > stop else done_end
        self.parent, self.start = upper, stop
        self.kv_end = stop if kv_end < stop else kv_end
        self.kv_admitted_end = stop if admitted < stop else admitted
        self.done_end = stop if done_end < stop else done_end
        if self.checkpoints or self.dropped or self.wanted:
            upper._take_marks_of(self)
        return upper

    def _take_marks_of(self, lower: KvSpan) -> None:
        """Move checkpoints and recorded positions that belong to this span from `lower` to it."""
        stop = self.stop
        checkpoints = lower.checkpoints
        if checkpoints:
            index = _count_upto(checkpoints, stop)
            self.checkpoints = checkpoints[:index] or NO_CHECKPOINTS
            lower.checkpoints = checkpoints[index:] or NO_CHECKPOINTS
            for checkpoint in self.checkpoints:
                checkpoint.span = self
        self.dropped, lower.dropped = _divided(lower.dropped, stop)
        self.wanted, lower.wanted = _divided(lower.wanted, stop)

    def add(self, checkpoint: Checkpoint) -> None:
        """Add a resident checkpoint to the span."""
        checkpoints, position = self.checkpoints, checkpoint.position
        if not checkpoints:
            self.checkpoints = [checkpoint]
        elif checkpoints[-1].position < position:
            checkpoints.append(checkpoint)
        elif position < checkpoints[0].position:
            checkpoints.insert(0, checkpoint)
        else:
            checkpoints.insert(_count_upto(checkpoints, position), checkpoint)

    def remove(self, checkpoint: Checkpoint) -> None:
        """Remove a checkpoint from the span and remember its position as evicted."""
        checkpoints = self.checkpoints
        if len(checkpoints) <= 1:
            self.checkpoints = NO_CHECKPOINTS
        elif checkpoints[-1] is checkpoint:
            checkpoints.pop()
        else:  # bisection, since there may be thousands
            del checkpoints[_count_upto(checkpoints, checkpoint.position) - 1]
        self.dropped = with_position(self.dropped, checkpoint.position)


class Checkpoint:
    """A stored recurrent state: that after token `position` of every prompt through `span`.

    The attributes `rank`, `queued` and `policy_data` belong to the eviction policy, all others to
    the cache.
    """

    __slots__ = (
        "pins",
        "policy_data",
        "position",
        "queued",
        "rank",
        "resident",
        "size_bytes",
        "span",
    )

    def __init__(self, span: KvSpan, position: int, size_bytes: int) -> None:
        self.span = span
        self.position = position
        self.size_bytes = size_bytes
        self.resident = True
        self.pins = 0
        self.rank: Any = 0
        self.queued: int = 0
        self.policy_data: Any = None

    @property
    def key(self) -> tuple[int, int]:
        """An identifier of the state for policies, valid after eviction and splits of spans."""
        return self.span.request, self.position

    @property
    def evictable(self) -> bool:
        """Whether the state is stored and not pinned by a running request."""
        return self.resident and not self.pins

    @property
    def depth(self) -> int:
        """Tokens from the start of the prompt to the state."""
        return self.position


Entry = KvSpan | Checkpoint
NO_CHECKPOINTS: Final[list[Checkpoint]] = []
NO_POSITIONS: Final[list[int]] = []


def _count_upto(checkpoints: list[Checkpoint], limit: int) -> int:
    """Return the number of ascending `checkpoints` at or before token `limit`."""
    low, high = 0, len(checkpoints)
    while low < high:  # several times faster than `bisect` with a key function
        middle = (low + high) // 2
        if checkpoints[middle].position <= limit:
            low = middle + 1
        else:
            high = middle
    return low


def deepest_position(positions: list[int], limit: int) -> int:
    """Return the last of ascending `positions` that is at most `limit`, or 0 if there is none."""
    if not positions:
        return 0
    if positions[-1] <= limit:
        return positions[-1]
    index = bisect_right(positions, limit)
    return positions[index - 1] if index else 0


def _divided(positions: list[int], stop: int) -> tuple[list[int], list[int]]:
    """Split ascending `positions` into those up to `stop` and those after it."""
    if not positions:
        return NO_POSITIONS, NO_POSITIONS
    index = bisect_right(positions, stop)
    return positions[:index] or NO_POSITIONS, positions[index:] or NO_POSITIONS


def with_position(positions: list[int], position: int) -> list[int]:
    """Insert `position` into ascending `positions`, in place unless empty; return the result."""
    if not positions:
        return [position]
    if positions[-1] < position:
        positions.append(position)
    elif positions[bisect_right(positions, position) - 1] != position:
        insort(positions, position)
    return positions
