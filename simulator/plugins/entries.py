"""What lives in the cache: KV spans and checkpoints."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Any, Final


class KvSpan:
    """The KV of tokens among which no prompt has parted yet, resident over `(start, kv_end]`.

    It covers the tokens that one request was the first to bring, down to where it ended or a
    later one diverged. KvTree are closed towards the root: where this one holds a token, every span
    above it is whole. So it can be evicted from its tail only, and only while no span below it
    holds a token. It also remembers what its tokens have been through, which loss attribution
    needs, and stays in memory when its KV is gone. The root is its own parent: every walk ends
    there.

    `rank`, `queued` and `policy_data` belong to the eviction policy, everything else to the cache.
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
        self.node = node  # that of the prefix tree with which it ends
        # The request that first came this way. With `stop` it names the prefix that ends here, by
        # nothing that a policy or a later request could change.
        self.request = request
        self.kv_end = start  # resident if beyond `start`
        self.kv_admitted_end = start  # the deepest token whose KV was ever admitted
        self.size_bytes = 0
        self.done_end = start  # the deepest token that any request has computed
        self.children_seen = 0
        self.children_resident = 0
        self.pins = 0
        # Ascending. Most spans never hold any: the empty lists are shared, and never changed.
        self.checkpoints: list[Checkpoint] = NO_CHECKPOINTS  # resident
        self.dropped: list[int] = NO_POSITIONS  # of those that were evicted
        self.wanted: list[int] = NO_POSITIONS  # before they were floored
        self.rank: Any = 0
        self.queued: int = 0
        self.policy_data: Any = None

    @property
    def key(self) -> KvSpan:
        """What a policy may remember it by when its KV is gone: the span stays the same."""
        return self

    @property
    def resident(self) -> bool:
        """Whether it holds any KV."""
        return self.kv_end > self.start

    @property
    def evictable(self) -> bool:
        """Whether it holds KV that nothing needs: no pin, and no KV below it."""
        return self.kv_end > self.start and not self.pins and not self.children_resident

    @property
    def depth(self) -> int:
        """Tokens from the start of the prompt to the end of the resident KV."""
        return self.kv_end

    def deepest_checkpoint(self, limit: int) -> Checkpoint | None:
        """Return the deepest resident checkpoint of this span at or before token `limit`."""
        checkpoints = self.checkpoints
        if not checkpoints:
            return None
        if checkpoints[-1].position <= limit:
            return checkpoints[-1]
        index = _count_upto(checkpoints, limit)
        return checkpoints[index - 1] if index else None

    def cut(self, stop: int, node: int) -> KvSpan:
        """Give what lies up to token `stop` to a new span above this one, and return that.

        Pins stay here, and the new span has nothing of the eviction policy's yet.
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
        """Take over the checkpoints and the remembered positions up to the end of this span."""
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
        """Note that `checkpoint` is resident here."""
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
        """Note that `checkpoint` was resident here, and is no more."""
        checkpoints = self.checkpoints
        if len(checkpoints) <= 1:
            self.checkpoints = NO_CHECKPOINTS
        elif checkpoints[-1] is checkpoint:
            checkpoints.pop()
        else:  # there may be thousands: never a search from one end to the other
            del checkpoints[_count_upto(checkpoints, checkpoint.position) - 1]
        self.dropped = with_position(self.dropped, checkpoint.position)


class Checkpoint:
    """A stored recurrent state: after token `position` of every prompt through `span`.

    `rank`, `queued` and `policy_data` belong to the eviction policy, everything else to the cache.
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
        """What a policy may remember it by when it is gone: its place, however spans are cut."""
        return self.span.request, self.position

    @property
    def evictable(self) -> bool:
        """Whether it is still stored and no running request resumes from it."""
        return self.resident and not self.pins

    @property
    def depth(self) -> int:
        """Tokens from the start of the prompt to the state."""
        return self.position


Entry = KvSpan | Checkpoint
NO_CHECKPOINTS: Final[list[Checkpoint]] = []
NO_POSITIONS: Final[list[int]] = []


def _count_upto(checkpoints: list[Checkpoint], limit: int) -> int:
    """Return how many of the ascending `checkpoints` lie at or before token `limit`."""
    low, high = 0, len(checkpoints)
    while low < high:  # written out: a key function for `bisect` costs several times as much
        middle = (low + high) // 2
        if checkpoints[middle].position <= limit:
            low = middle + 1
        else:
            high = middle
    return low


def deepest_position(positions: list[int], limit: int) -> int:
    """Return the last of ascending `positions` that is at most `limit`, or 0."""
    if not positions:
        return 0
    if positions[-1] <= limit:
        return positions[-1]
    index = bisect_right(positions, limit)
    return positions[index - 1] if index else 0


def _divided(positions: list[int], stop: int) -> tuple[list[int], list[int]]:
    """Return the ascending `positions` up to `stop`, and those beyond."""
    if not positions:
        return NO_POSITIONS, NO_POSITIONS
    index = bisect_right(positions, stop)
    return positions[:index] or NO_POSITIONS, positions[index:] or NO_POSITIONS


def with_position(positions: list[int], position: int) -> list[int]:
    """Return ascending `positions` with `position` among them; a list is changed in place."""
    if not positions:
        return [position]
    if positions[-1] < position:
        positions.append(position)
    elif positions[bisect_right(positions, position) - 1] != position:
        insort(positions, position)
    return positions
