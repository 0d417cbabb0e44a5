"""The queue once more, as a list of events that is sorted before each step: an oracle.

Seconds are whole numbers here, so that events do meet at one instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from simulator.results.records import FINISHED, LOSSES, REJECTED, UNFINISHED
from tests.simulator.cache.naive_cache import NaiveCache, NaiveRunning
from tests.simulator.prompts import Prompt

RESTORE_SECONDS = 2.0
CUT_SECONDS = 1.0
END, ARRIVAL = 0, 1  # of what happens at one instant, ends go first

Row = list[float]  # COUNT_COLUMNS, then TIME_COLUMNS


class NaiveServer:
    def __init__(self, cache: NaiveCache, queue_limit: int | None) -> None:
        self.cache = cache
        self.queue_limit = inf if queue_limit is None else queue_limit
        self.rows: dict[int, Row] = {}
        self.waiting: list[tuple[int, float, Prompt]] = []
        self.matched: list[tuple[int, float, NaiveRunning]] = []
        self.running: tuple[int, float, NaiveRunning, float] | None = None
        self.now = 0.0
        self.events: list[tuple[float, int, list[tuple[int, Prompt]]]] = []

    def serve(
        self, prompts: Sequence[Prompt], arrivals: Sequence[float], horizon: float | None
    ) -> dict[int, Row]:
        for time in set(arrivals):
            together = [i for i, arrival in enumerate(arrivals) if arrival == time]
            self.events.append((time, ARRIVAL, [(i, prompts[i]) for i in together]))
        while self.events:
            self.events.sort()
            self.now, kind, what = self.events.pop(0)
            if horizon is not None and self.now >= horizon:
                self.now = horizon
                break
            if kind == END:
                self.finish()
            else:
                self.arrive(what)
            if self.running is None:
                self.start()
        self.now = self.now if horizon is None else horizon
        for request, arrival, running in [
            *([self.running[:3]] if self.running else []),
            *self.matched,
        ]:
            self.unserved(request, UNFINISHED, arrival, running.prompt)
        for request, arrival, prompt in self.waiting:
            self.unserved(request, UNFINISHED, arrival, prompt)
        return self.rows

    def arrive(self, together: list[tuple[int, Prompt]]) -> None:
        for request, prompt in together:
            behind = len(self.waiting) + len(self.matched)
            if self.running is None:  # the first of them will not wait
                behind -= 1
            if behind >= self.queue_limit:
                self.unserved(request, REJECTED, self.now, prompt)
            else:
                self.waiting.append((request, self.now, prompt))

    def start(self) -> None:
        if not self.matched:
            first = [entry for entry in self.waiting if entry[1] == self.waiting[0][1]]
            self.matched = [(i, arrival, self.cache.admit(prompt)) for i, arrival, prompt in first]
            self.waiting = self.waiting[len(first) :]
        if self.matched:
            request, arrival, running = self.matched.pop(0)
            self.running = request, arrival, running, self.now
            self.events.append((self.now + sum(self.seconds(running)), END, []))

    def seconds(self, running: NaiveRunning) -> tuple[float, float, float]:
        length = len(running.prompt)
        cuts = sum(position < length for position in running.positions)
        restore = RESTORE_SECONDS if running.resume else 0.0
        return restore, float(length - running.resume), cuts * CUT_SECONDS

    def finish(self) -> None:
        assert self.running is not None
        request, arrival, running, started = self.running
        self.running = None
        seconds = self.seconds(running)
        self.cache.commit(running)
        self.record(
            request,
            FINISHED,
            running.prompt,
            [
                running.resume,
                running.overlap,
                running.kv_depth,
                *running.losses,
                0,
                len(running.written),
            ],
            [arrival, started - arrival, *seconds],
        )

    def unserved(self, request: int, status: int, arrival: float, prompt: Prompt) -> None:
        nothing = [0] * (3 + len(LOSSES) - 1)
        times = [arrival, 0.0, 0.0, 0.0, 0.0]
        self.record(request, status, prompt, [*nothing, len(prompt), 0], times)

    def record(
        self, request: int, status: int, prompt: Prompt, counts: list[int], times: list[float]
    ) -> None:
        cache = self.cache
        states, kv_bytes = len(cache.checkpoints), len(cache.kv) * cache.kv_bytes
        held = [states, states * cache.state_bytes, kv_bytes]
        replica = 0
        self.rows[request] = [request, status, len(prompt), *counts, *held, replica, *times]
