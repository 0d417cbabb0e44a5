"""What a pool counts."""

from __future__ import annotations

import pytest

from policies.eviction.lru import Lru
from simulator.cache.pool import Pool


def pool_of(capacity_bytes=100, **known):
    return Pool("kv", capacity_bytes, Lru(), **known)


def test_kv_states_and_what_running_requests_hold_share_one_capacity():
    pool = pool_of()
    pool.take_kv(30)
    pool.take_checkpoints(2, 20)
    pool.hold(15)
    assert (pool.free_bytes, pool.kv_bytes, pool.checkpoint_bytes, pool.held_bytes) == (
        35,
        30,
        20,
        15,
    )
    pool.give_kv(10)
    pool.give_checkpoints(1, 10)
    pool.hold(-5)
    assert (pool.free_bytes, pool.kv_bytes, pool.checkpoint_bytes, pool.held_bytes) == (
        60,
        20,
        10,
        10,
    )


def test_the_peak_is_the_most_that_was_in_use_at_once():
    pool = pool_of()
    pool.take_kv(40)
    pool.give_kv(40)
    pool.take_checkpoints(3, 30)
    assert (pool.peak_bytes, pool.kv_peak_bytes, pool.checkpoint_peak_bytes) == (40, 40, 30)


def test_what_is_held_counts_in_the_peak():
    pool = pool_of()
    pool.hold(70)
    pool.hold(-70)
    assert pool.peak_bytes == 70


def test_what_has_entered_and_is_not_there_was_evicted():
    pool = pool_of()
    pool.take_kv(50)
    pool.give_kv(20)
    pool.take_checkpoints(3, 30)
    pool.give_checkpoints(2, 20)
    counters = pool.counters(4)
    assert (counters.replica, counters.pool, counters.capacity_bytes) == (4, "kv", 100)
    assert (counters.kv_evicted_bytes, counters.checkpoints_evicted) == (20, 2)
    assert (counters.checkpoint_peak_count, counters.checkpoint_peak_bytes) == (3, 30)


@pytest.mark.parametrize(
    ("capacity_bytes", "expires", "evicts"),
    [(None, False, False), (None, True, True), (0, False, True), (100, False, True)],
)
def test_an_order_is_kept_where_something_may_leave(capacity_bytes, expires, evicts):
    assert pool_of(capacity_bytes, expires=expires).evicts == evicts


def test_an_unbounded_pool_tells_what_it_would_have_needed():
    pool = pool_of(None)
    pool.take_kv(10**15)
    assert (pool.peak_bytes, pool.counters(0).capacity_bytes) == (10**15, None)
