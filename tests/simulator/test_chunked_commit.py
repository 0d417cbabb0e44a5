"""A scheduler of one's own: every step has the next chunk of each prompt that runs."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from simulator.results.records import COUNT_COLUMNS
from simulator.serving.step import Chunk, Step
from tests.simulator.cache.test_cache_against_oracle import REQUESTS
from tests.simulator.placers import Wanted
from tests.simulator.replays import replay


class Chunked:
    def __init__(self, cache, reject, tokens=2, timeless=False):
        self._cache, self._tokens, self.timeless = cache, tokens, timeless
        self._waiting, self._running = [], []

    def arrive(self, request, now_seconds):
        self._waiting.append(request)

    def next_step(self, now_seconds):
        self._running = [running for running in self._running if running.computed < running.end]
        self._running += [self._cache.admit(request, now_seconds) for request in self._waiting]
        self._waiting = []
        chunks = []
        for running in self._running:
            stop = min(running.computed + self._tokens, running.end)
            self._cache.plan(running, stop)
            chunks.append(Chunk(running, running.computed, stop))
        return Step(chunks) if chunks else None

    def waiting(self):
        return self._waiting


def test_a_request_resumes_from_what_another_that_still_runs_has_committed():
    prompts, arrivals = [(1, 2, 3, 4, 5, 6, 7, 7), (1, 2, 3, 4, 5, 6, 8)], [0.0, 3.0]
    result = replay(prompts, arrivals, lambda: Wanted(4, 6), server=Chunked)
    assert result.columns["saved_tokens"].tolist() == [0, 4]
    assert result.columns["lost_in_flight_tokens"].tolist() == [0, 2]
    assert result.columns["checkpoints_written"].tolist() == [2, 0]  # that at 6 is stored once
    assert result.columns["ttft_seconds"].tolist() == [11.0, 8.0]  # steps end at 2, 4, 8 and 11


@given(REQUESTS, st.integers(1, 5), st.lists(st.integers(1, 10), max_size=4))
def test_alone_it_does_not_matter_how_often_a_request_commits(requests, tokens, wanted):
    (prompts, answers), arrivals = zip(*requests, strict=True), [*map(float, range(len(requests)))]
    often = partial(Chunked, tokens=tokens, timeless=True)
    one, other = (
        replay(prompts, arrivals, lambda: Wanted(*wanted, end=True), answers=answers, server=server)
        for server in ("instant", often)
    )
    assert all((one.columns[name] == other.columns[name]).all() for name in COUNT_COLUMNS)
    assert one.positions.tolist() == other.positions.tolist()
