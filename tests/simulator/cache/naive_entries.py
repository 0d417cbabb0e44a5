"""The cache of entries once more, over token tuples and with linear scans: an oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.simulator.prompts import Prompt


@dataclass(eq=False)
class NaiveEntry:
    tokens: Prompt
    positions: list[int]
    wanted: list[int]


@dataclass
class NaiveServed:
    resume: int
    kv_depth: int
    losses: list[int]
    positions: list[int]


class NaiveEntries:
    def __init__(
        self,
        wanted: Callable[[Prompt], Sequence[int]],
        most: int,
        per_document: bool,
        capacity: int | None,
        kv_bytes: int,
        state_bytes: int,
        grid: tuple[int, int],
    ) -> None:
        self.wanted = wanted
        self.most, self.per_document, self.capacity = most, per_document, capacity
        self.kv_bytes, self.state_bytes, self.grid = kv_bytes, state_bytes, grid
        self.seen: list[Prompt] = []
        self.stored: list[Prompt] = []
        self.entries: list[NaiveEntry] = []

    def serve(self, prompt: Prompt, answer: Prompt = ()) -> NaiveServed:
        length, limit = len(prompt), len(prompt) - 1
        overlap = self.depth(prompt, self.seen)
        entry = max(self.entries, key=lambda e: shared(prompt, e.tokens), default=None)
        kv_depth = 0 if entry is None else shared(prompt, entry.tokens)
        a0 = min(overlap, limit)  # all that was seen has been computed, too
        a2 = min(self.depth(prompt, self.stored), limit)
        a3 = min(kv_depth, limit)
        resume = want = 0
        if entry is not None:
            resume = max((p for p in entry.positions if p <= a3), default=0)
            want = max((p for p in entry.wanted if p <= a3), default=0)
        alignment = want - resume if want > resume >= self.floor(want) else 0
        losses = [length - overlap, overlap - a0, 0, a0 - a2, a2 - a3]
        losses += [a3 - resume - alignment, alignment, 0]
        whole = (*prompt, *answer)
        wanted = list(self.wanted(whole))
        positions = sorted({self.floor(p) for p in wanted} - {0})
        self.seen.append(whole)
        stored = self.store(NaiveEntry(whole, positions, wanted))
        return NaiveServed(resume, kv_depth, losses, positions if stored else [])

    def store(self, new: NaiveEntry) -> bool:
        if self.capacity is not None and self.size(new) > self.capacity:
            return False
        same = [e for e in self.entries if not self.per_document or e.tokens[0] == new.tokens[0]]
        if len(same) >= self.most:
            self.entries.remove(same[0])
        while self.capacity is not None and self.used() + self.size(new) > self.capacity:
            del self.entries[0]
        self.entries.append(new)
        self.stored.append(new.tokens)
        return True

    def size(self, entry: NaiveEntry) -> int:
        return len(entry.tokens) * self.kv_bytes + len(entry.positions) * self.state_bytes

    def used(self) -> int:
        return sum(map(self.size, self.entries))

    def depth(self, prompt: Prompt, others: Sequence[Prompt]) -> int:
        return max((shared(prompt, other) for other in others), default=0)

    def floor(self, position: int) -> int:
        position -= position % self.grid[0]
        return position - position % self.grid[1]


def shared(one: Prompt, other: Prompt) -> int:
    """Return how many tokens two prompts share from the start."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count
