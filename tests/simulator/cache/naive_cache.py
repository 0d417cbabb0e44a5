"""The shared cache once more, over sets of token tuples and with linear scans: an oracle.

A token of KV is the prefix that ends with it; a checkpoint is a prefix; a span is the prefix with
which it ends, and starts behind the longest shorter one of its path. Everything is recounted
whenever it is needed, and the least recent entry is found by looking at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.simulator.prompts import Prompt, node_ends


@dataclass(eq=False)
class NaiveRunning:
    prompt: Prompt
    whole: Prompt  # with its answer
    resume: int
    overlap: int
    kv_depth: int
    losses: list[int]
    wanted: list[int]
    positions: list[int]
    written: list[Prompt] = field(default_factory=list)


class NaiveCache:
    def __init__(
        self,
        wanted: Callable[[Prompt, int], Sequence[int]],
        capacity: int | None,
        kv_bytes: int,
        state_bytes: int,
        page: int,
        grid: tuple[int, int],
        hits_count: bool,
        whole_spans: bool = False,
        bare_kv: bool = True,
    ) -> None:
        self.came: list[Prompt] = []  # prompts matched, and answers committed
        self.ends: list[Prompt] = []  # where spans end: where those have diverged or ended
        self.wanted = wanted
        self.capacity = capacity
        self.kv_bytes, self.state_bytes, self.page, self.grid = kv_bytes, state_bytes, page, grid
        self.hits_count = hits_count
        self.whole_spans = whole_spans
        self.bare_kv = bare_kv  # whether KV is stored behind the deepest position that is wanted
        self.seen: set[Prompt] = set()  # matched
        self.done: set[Prompt] = set()  # committed
        self.admitted: set[Prompt] = set()
        self.kv: set[Prompt] = set()
        self.checkpoints: set[Prompt] = set()
        self.stored: set[Prompt] = set()
        self.floored: set[Prompt] = set()  # wanted, and not on the grid
        self.rank: dict[tuple[str, Prompt], int] = {}
        self.clock = 0
        self.running: list[NaiveRunning] = []  # those that have not ended
        self.own: list[Prompt] = []  # states stored by the one that is committed

    # --- the chain ---

    def serve(self, prompt: Prompt, answer: Prompt = ()) -> NaiveRunning:
        """Serve a request completely."""
        running = self.admit(prompt, answer)
        self.commit(running)
        return running

    def admit(self, prompt: Prompt, answer: Prompt = ()) -> NaiveRunning:
        """Match a request and pin what it uses."""
        self.split_for(prompt)
        length, limit = len(prompt), len(prompt) - 1
        overlap = self.depth(prompt, self.seen)
        kv_depth = self.depth(prompt, self.kv)
        a0 = min(overlap, limit)
        a1 = min(self.depth(prompt, self.done), limit)
        a2 = min(self.depth(prompt, self.admitted), limit)
        a3 = min(kv_depth, limit)
        a4 = self.deepest(prompt, self.stored, a3)
        resume = self.deepest(prompt, self.checkpoints, a3)
        want = self.deepest(prompt, self.floored, a3)
        alignment = want - a4 if want > a4 >= self.floor(want) else 0
        losses = [length - overlap, overlap - a0, a0 - a1, a1 - a2, a2 - a3]
        losses += [a3 - a4 - alignment, alignment, a4 - resume]
        self.seen |= {prompt[:depth] for depth in range(1, length + 1)}
        wanted = list(self.wanted(prompt, resume))
        positions = sorted({self.floor(p) for p in wanted if self.floor(p) > resume})
        whole = (*prompt, *answer)
        running = NaiveRunning(prompt, whole, resume, overlap, kv_depth, losses, wanted, positions)
        self.running.append(running)
        return running

    def split_for(self, prompt: Prompt) -> None:
        """End spans where `prompt` diverges from what has come, or ends; the halves rank alike.

        In LRU the request counts as a use of the upper half, and more so of what lies higher.
        """
        before = self.ends
        self.came.append(prompt)
        self.ends = node_ends(self.came)
        for end in [end for end in reversed(self.ends) if end not in before]:
            lower = min((e for e in before if e[: len(end)] == end), key=len, default=None)
            if lower is None or ("kv", lower) not in self.rank:
                continue
            if self.hits_count:
                self.touch(("kv", end))
            else:
                self.rank["kv", end] = self.rank["kv", lower]

    def depth(self, prompt: Prompt, tokens: set[Prompt]) -> int:
        depth = 0
        while depth < len(prompt) and prompt[: depth + 1] in tokens:
            depth += 1
        return depth

    def deepest(self, prompt: Prompt, marks: set[Prompt], limit: int) -> int:
        return max((d for d in range(1, limit + 1) if prompt[:d] in marks), default=0)

    def floor(self, position: int) -> int:
        position -= position % self.grid[0]
        return position - position % self.grid[1]

    # --- what enters ---

    def commit(self, running: NaiveRunning) -> None:
        """Store what a request has computed, and release what it used."""
        prompt, self.own = running.whole, running.written
        self.split_for(prompt)
        self.seen |= {prompt[:depth] for depth in range(1, len(prompt) + 1)}
        self.done |= {prompt[:depth] for depth in range(1, len(prompt) + 1)}
        positions = [p for p in running.positions if prompt[:p] not in self.checkpoints]
        path = [end for end in self.ends if end == prompt[: len(end)]]
        depth = self.depth(prompt, self.kv)
        held = [end for end in path if self.start(end) < depth]
        top = self.start(held[-1]) if held else 0
        stop = len(prompt)
        if not self.bare_kv:
            stop = max(map(self.floor, running.wanted), default=0)
        size = max(0, stop - depth) * self.kv_bytes + len(positions) * self.state_bytes
        if self.capacity is None or size <= self.capacity:
            self.make_room(size, prompt)
        for position in [p for p in positions if p <= top]:
            self.add_checkpoint(prompt, position)
        pending = [p for p in positions if p > top]
        missing = [end for end in path[len(held) :] if self.start(end) < stop]
        for end in [*held[-1:], *missing]:
            start = self.start(end)
            there = [p for p in pending if start < p <= len(end)]
            if not self.fill(prompt, min(len(end), stop), there):
                break
        now = [end for end in path if self.start(end) < self.depth(prompt, self.kv)]
        for end in reversed(now):
            self.touch(("kv", end), fresh=end not in held)
        if running.resume:
            self.touch(("state", prompt[: running.resume]))
        for mark in self.own:
            self.touch(("state", mark), fresh=True)
        for position in running.wanted:
            if self.floor(position) != position:
                self.floored.add(prompt[:position])
        self.running.remove(running)
        self.own = []

    def fill(self, prompt: Prompt, stop: int, positions: list[int]) -> bool:
        for position in positions:
            if not self.extend(prompt, position):
                return False
            self.add_checkpoint(prompt, position)
        return self.extend(prompt, stop)

    def extend(self, prompt: Prompt, stop: int) -> bool:
        depth = self.depth(prompt, self.kv)
        if depth >= stop:
            return True
        fits = self.make_room((stop - depth) * self.kv_bytes, prompt)
        reach = stop
        if not fits:
            assert self.capacity is not None
            reach = depth + (self.capacity - self.used()) // self.kv_bytes
            reach -= reach % self.page
        fresh = {prompt[:d] for d in range(depth + 1, reach + 1)}
        self.kv |= fresh
        self.admitted |= fresh
        return fits

    def add_checkpoint(self, prompt: Prompt, position: int) -> None:
        mark = prompt[:position]
        fits = self.capacity is None or self.state_bytes <= self.capacity
        if fits and self.make_room(self.state_bytes, prompt):
            self.checkpoints.add(mark)
            self.stored.add(mark)
            self.own.append(mark)

    def touch(self, entry: tuple[str, Prompt], fresh: bool = False) -> None:
        self.clock += 1
        if fresh or self.hits_count:
            self.rank[entry] = self.clock

    # --- what leaves ---

    def used(self) -> int:
        return len(self.kv) * self.kv_bytes + len(self.checkpoints) * self.state_bytes

    def make_room(self, size: int, protected: Prompt) -> bool:
        if self.capacity is None:
            return True
        while self.used() + size > self.capacity:
            candidates = self.candidates(protected)
            if not candidates or self.capacity == 0:
                return False
            kind, mark = min(candidates, key=lambda entry: (self.rank[entry], -len(entry[1])))
            if kind == "state":
                self.checkpoints.discard(mark)
            else:
                self.trim(mark, size)
        return True

    def start(self, end: Prompt) -> int:
        return max((len(e) for e in self.ends if e != end and e == end[: len(e)]), default=0)

    def candidates(self, protected: Prompt) -> list[tuple[str, Prompt]]:
        """States and spans with no KV below them, but those in use and those on the path."""
        marks = {running.prompt[: running.resume] for running in self.running} | set(self.own)
        used = [running.prompt[: running.resume] for running in self.running if running.resume]
        spans = {min((e for e in self.ends if e[: len(u)] == u), key=len) for u in used}
        candidates: list[tuple[str, Prompt]] = [
            ("state", mark) for mark in self.checkpoints if mark not in marks
        ]
        for end in self.ends:
            start = self.start(end)
            resident = end[: start + 1] in self.kv
            below = any(len(t) > len(end) and t[: len(end)] == end for t in self.kv)
            if resident and not below and end not in spans and end != protected[: len(end)]:
                candidates.append(("kv", end))
        return candidates

    def trim(self, end: Prompt, size: int) -> None:
        """Take whole pages from the tail until enough is free, or the span is empty."""
        assert self.capacity is not None
        start = self.start(end)
        depth = self.depth(end, self.kv)
        while depth > start and (self.whole_spans or self.used() + size > self.capacity):
            depth = max(start, (depth - 1) - (depth - 1) % self.page)
            gone = {t for t in self.kv if len(t) > depth and t[: start + 1] == end[: start + 1]}
            self.kv -= gone
            self.checkpoints -= gone
