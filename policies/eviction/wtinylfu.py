"""W-TinyLFU: an LRU window, then a segmented LRU entered by frequency."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from policies.eviction.base import BaseEviction, exact, require_share, share_of
from policies.eviction.slru import Slru
from policies.frequency import Frequencies
from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import ByteQueueView, first_head
from simulator.plugins.entries import Entry, KvSpan


class WTinyLfu(BaseEviction):
    """Pass new entries through a small LRU window into a segmented LRU that admits by frequency.

    Entries that overflow the window enter the main part while there is room. After that, of the
    window's victim and the main part's own victim the less often used is evicted.

    Parameters
    ----------
    window
        Share of the capacity for the window.
    protected
        Share of the main part for its protected segment.
    sample
        Uses after which all counts are halved.

    Source: G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
    policy", ACM Transactions on Storage 13(4), 2017, section 4. The counts are exact, not a sketch.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("wtinylfu:window=0.25", "AABBGG CDE", capacity_bytes=4)  # each used once
    'CD'
    >>> evicted("wtinylfu:window=0.25", "AABBGG CCCC DE", capacity_bytes=4)  # more than A
    'AD'
    """

    def __init__(self, window: float = 0.01, protected: float = 0.8, sample: int = 100_000) -> None:
        require_share("window", window)
        self._share = window
        self._main = Slru(protected=protected)
        self._uses = Frequencies(sample)
        self._window = ByteQueue()
        self._window_limit = self._main_limit = float("inf")

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        if capacity_bytes is not None:
            rest = 1 - exact(self._share)
            self._window_limit = share_of(capacity_bytes, self._share)
            self._main_limit = share_of(capacity_bytes, rest)
            self._main.start(rest * capacity_bytes)

    def on_insert(self, entry: Entry) -> None:
        """Put it into the window, and move what overflows to the main part if it fits."""
        self._uses.add(entry.key)
        self._window.push(entry)
        self._pass_on()

    def on_hit(self, entry: Entry) -> None:
        """Count the use, and note the hit in the part that holds it."""
        self._uses.add(entry.key)
        if entry in self._window.charged:
            self._window.touch(entry)
        else:
            self._main.on_hit(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        if entry in self._window.charged:
            self._window.on_evictable(entry)
        else:
            self._main.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it, and move the window's overflow into its room."""
        if entry in self._window.charged:
            self._window.discard(entry)
        else:
            self._main.on_evict(entry)
            self._pass_on()

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, with the count of the whole."""
        self._uses.split(upper.key, lower.key)
        self._window.split(upper, lower)
        self._main.on_split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the less used of the window's and the main part's victims."""
        return self._less_used(self._window.head(), self._main.victim())

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, as if the window overflowed into the room they leave."""
        outlook = Outlook()
        window = ByteQueueView(self._window, outlook)
        segments = [ByteQueueView(segment, outlook) for segment in self._main.segments]
        while True:
            entry = self._less_used(window.head(), first_head(segments))
            if entry is None:
                return
            yield entry
            leaving, freed = outlook.leaving(entry), outlook.let_go(entry)
            for gone in leaving:
                if not window.discard(gone):
                    any(segment.discard(gone) for segment in segments)
                    self._suppose_passed_on(window, segments)
            for part in (window, *segments):
                part.on_evictable(freed)

    def _less_used(self, candidate: Entry | None, resident: Entry | None) -> Entry | None:
        """Return the less used of the window's and the main part's victims."""
        if candidate is None or resident is None:
            return candidate or resident
        if self._uses.of(candidate.key) > self._uses.of(resident.key):
            return resident
        return candidate

    def _suppose_passed_on(self, window: ByteQueueView, segments: list[ByteQueueView]) -> None:
        """Do what `_pass_on` does, with views of the window and of the main part's segments."""
        while window.bytes > self._window_limit:
            entry = window.first()
            main_bytes = sum(segment.bytes for segment in segments)
            if entry is None or main_bytes + entry.size_bytes > self._main_limit:
                return
            window.discard(entry)
            segments[0].push(entry)

    def _pass_on(self) -> None:
        """Move what overflows the window to the main part, as long as it fits there."""
        window, main = self._window, self._main
        while window.bytes > self._window_limit:
            entry = window.first()
            if entry is None or main.bytes + entry.size_bytes > self._main_limit:
                return
            window.discard(entry)
            main.on_insert(entry)
