"""Running requests that count against the budget. A token takes a second."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import create
from simulator.plugins.context import CUTS
from simulator.results.records import COUNT_COLUMNS, FINISHED, REJECTED, TIME_COLUMNS
from tests.simulator.cache.test_cache_against_oracle import REQUESTS
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile
from tests.simulator.replays import replay
from tests.simulator.test_chunked_commit import Chunked


class Patient(Chunked):
    """Runs as many requests beside each other as there is room for."""

    def __init__(self, cache, reject):
        super().__init__(cache, reject)
        self._reject = reject

    def next_step(self, now_seconds):
        self._running = [running for running in self._running if running.computed < running.end]
        waiting, self._waiting = self._waiting, []
        while waiting:
            running = self._cache.admit(waiting[0], now_seconds)
            if running is not None:
                self._running.append(running)
            elif self._running:
                break
            else:
                self._reject(waiting[0])
            del waiting[0]
        step = super().next_step(now_seconds)
        self._waiting = waiting
        return step


SERVERS = st.sampled_from(["queue", "instant", Patient])
GAPS = st.lists(st.integers(0, 5), min_size=12, max_size=12)


def arrivals_of(requests, gaps):
    return np.cumsum(gaps[: len(requests)]).astype(float).tolist()


@settings(max_examples=300)
@given(
    requests=REQUESTS,
    gaps=GAPS,
    server=SERVERS,
    wanted=st.lists(st.integers(1, 10), max_size=4),
    capacity=st.integers(0, 60),
    kv_bytes=st.integers(0, 3),
    state_bytes=st.integers(1, 12),
    page=st.integers(1, 4),
    cut=st.sampled_from(CUTS),
    eviction=st.sampled_from(["lru", "fifo", "s3fifo", "value"]),
)
def test_every_request_ends_and_only_one_that_is_too_large_is_rejected(
    requests, gaps, server, wanted, capacity, kv_bytes, state_bytes, page, cut, eviction
):
    prompts, answers = zip(*requests, strict=True)
    result = replay(
        prompts,
        arrivals_of(requests, gaps),
        lambda: Wanted(*wanted, end=True),
        answers=answers,
        profile=toy_profile(kv_bytes, state_bytes, page),
        eviction=lambda: create("eviction", eviction),
        capacity_bytes=capacity,
        cut=cut,
        server=server,
        count_running=True,
    )
    assert result.counters.peak_bytes <= capacity
    status = result.columns["status"].tolist()
    assert len(status) == len(requests)
    assert set(status) <= {FINISHED, REJECTED}
    for (prompt, answer), outcome in zip(requests, status, strict=True):
        needed_bytes = (len(prompt) + len(answer)) * kv_bytes + state_bytes
        if needed_bytes > capacity:
            assert outcome == REJECTED
        elif needed_bytes + state_bytes <= capacity:  # with the one from which it resumes
            assert outcome == FINISHED


@given(
    requests=REQUESTS,
    gaps=GAPS,
    server=SERVERS,
    slots=st.integers(0, 4),
    kv_tokens=st.integers(0, 40),
)
def test_no_pool_of_a_split_is_exceeded(requests, gaps, server, slots, kv_tokens):
    prompts, answers = zip(*requests, strict=True)
    result = replay(
        prompts,
        arrivals_of(requests, gaps),
        lambda: Wanted(2, 5, end=True),
        answers=answers,
        capacity_bytes=kv_tokens + 10 * slots,
        pools=f"split:states={slots}",
        server=server,
        count_running=True,
    )
    assert all(pool.peak_bytes <= pool.capacity_bytes for pool in result.counters.pools)
    for request, outcome in zip(requests, result.columns["status"], strict=True):
        if sum(map(len, request)) > kv_tokens or not slots:
            assert outcome == REJECTED
        elif slots > 1:
            assert outcome == FINISHED


@given(requests=REQUESTS, gaps=GAPS, server=SERVERS)
def test_where_there_is_always_room_nothing_changes(requests, gaps, server):
    prompts, answers = zip(*requests, strict=True)
    counted, plain = (
        replay(
            prompts,
            arrivals_of(requests, gaps),
            lambda: Wanted(2, 5, end=True),
            answers=answers,
            server=server,
            count_running=count_running,
        ).columns
        for count_running in (True, False)
    )
    for name in (*COUNT_COLUMNS, *TIME_COLUMNS):
        assert counted[name].tolist() == plain[name].tolist(), name


def test_one_that_finds_no_room_starts_when_another_has_ended():
    prompts, arrivals = [(1, 1, 1, 1), (2, 2, 2, 2)], [0.0, 1.0]
    for capacity, waits in ((28, [0.0, 1.0]), (27, [0.0, 3.0])):  # each holds 14 bytes
        result = replay(
            prompts, arrivals, Wanted, server=Patient, capacity_bytes=capacity, count_running=True
        )
        assert result.columns["wait_seconds"].tolist() == waits


def test_one_larger_than_the_budget_is_rejected_and_those_behind_it_run():
    prompts = [(1, 1), (2,) * 9, (3, 3)]
    result = replay(
        prompts, [0.0, 1.0, 1.0], Wanted, capacity_bytes=18, count_running=True, queue_limit=2
    )
    assert result.columns["status"].tolist() == [FINISHED, REJECTED, FINISHED]
    assert result.columns["lost_not_served_tokens"].tolist() == [0, 9, 0]
    plain = replay(prompts, [0.0, 1.0, 1.0], Wanted, capacity_bytes=18)
    assert plain.columns["status"].tolist() == [FINISHED] * 3


def test_a_state_for_which_there_is_no_room_beside_the_running_one_is_not_captured():
    written = [
        replay(
            [(1, 1, 1, 1)],
            [0.0],
            lambda: Wanted(2),
            capacity_bytes=capacity,
            count_running=count_running,
        ).columns["checkpoints_written"][0]
        for capacity, count_running in ((23, False), (23, True), (24, True))
    ]
    assert written == [1, 0, 1]


def test_a_prompt_needs_no_room_for_its_own_kv_that_is_there():
    # It resumes from 2 of its 10 tokens, and keeps all of them: 10 bytes and two states.
    prompts = [(1,) * 10] * 3
    result = replay(
        prompts, None, lambda: Wanted(2), server="instant", capacity_bytes=30, count_running=True
    )
    assert result.columns["saved_tokens"].tolist() == [0, 2, 2]
    assert result.counters.peak_bytes == 30
