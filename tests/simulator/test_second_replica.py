"""Two replicas behind a round robin, with a scheduler of one's own: the last to come goes first."""

from __future__ import annotations

from typing import ClassVar

from simulator.serving.step import Chunk, Step
from tests.simulator.placers import Wanted
from tests.simulator.replays import replay


class LastFirst:
    timeless: ClassVar[bool] = False

    def __init__(self, cache, reject):
        self._cache = cache
        self._waiting = []

    def arrive(self, request, now_seconds):
        self._waiting.append(request)

    def next_step(self, now_seconds):
        if not self._waiting:
            return None
        running = self._cache.admit(self._waiting.pop(), now_seconds)
        self._cache.plan(running, running.end)
        return Step([Chunk(running, running.computed, running.end)])

    def waiting(self):
        return self._waiting


A, B = (1, 2, 3, 4), (5, 6, 7, 8)
# One a second, in turn to replica 0 and 1; a token takes a second. Each replica serves its first
# request at once; of the others, which have come meanwhile, it takes the last first.
PROMPTS = [(*A, 10), (*B, 10), (*B, 11), (*B, 12), (*A, 11), (*B, 13)]
ARRIVALS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_hits_come_from_the_replica_that_has_seen_the_prefix():
    result = replay(PROMPTS, ARRIVALS, lambda: Wanted(4), server=LastFirst, replicas=2)
    assert result.columns["replica"].tolist() == [0, 1, 0, 1, 0, 1]
    assert result.columns["saved_tokens"].tolist() == [0, 0, 0, 4, 4, 4]
    assert result.columns["wait_seconds"].tolist() == [0.0, 0.0, 4.0, 4.0, 1.0, 1.0]
    first, second = result.counters.pools
    assert (first.replica, first.kv_peak_bytes) == (0, 11)
    assert (second.replica, second.kv_peak_bytes) == (1, 7)
