"""A pool of slots for states beside one of KV, each with an eviction policy of its own."""

from __future__ import annotations

from policies.eviction.fifo import Fifo
from policies.eviction.lru import Lru
from tests.simulator.placers import Wanted
from tests.simulator.replays import replay

A, B, C = (1, 2, 3), (4, 5, 6), (7, 8, 9)
PROMPTS = [(*A, 10), (*B, 10), (*A, 11), (*C, 10), (*A, 12), (*B, 11)]


def split(**eviction):
    """Replay with a state behind each document: two slots of 10 bytes, and 12 bytes for KV."""
    return replay(
        PROMPTS,
        None,
        lambda: Wanted(3),
        eviction=eviction,
        capacity_bytes=32,
        pools="split:states=2",
        server="instant",
    )


def test_states_leave_in_the_order_of_their_pool_and_free_no_kv():
    result = split(kv=Lru, states=Fifo)
    # C has no slot: the state of A, first in, goes, though it has just been used. A, back, takes
    # that of B. Of KV the oldest question goes for C, and then for A the last token of B's.
    assert result.columns["saved_tokens"].tolist() == [0, 0, 3, 0, 0, 0]
    assert result.columns["lost_state_evicted_tokens"].tolist() == [0, 0, 0, 0, 3, 3]
    assert result.columns["kv_bytes"].tolist() == [4, 8, 9, 12, 12, 12]
    assert result.columns["checkpoints_resident"].tolist() == [1, 2, 2, 2, 2, 2]


def test_another_policy_for_states_keeps_others_and_the_same_kv():
    result = split(kv=Lru, states=Lru)  # C takes the slot of B
    assert result.columns["saved_tokens"].tolist() == [0, 0, 3, 0, 3, 0]
    assert result.columns["kv_bytes"].tolist() == [4, 8, 9, 12, 12, 12]


def test_each_pool_counts_for_itself():
    kv, states = split(kv=Lru, states=Fifo).counters.pools
    assert (kv.pool, kv.capacity_bytes, kv.peak_bytes, kv.checkpoint_peak_count) == (
        "kv",
        12,
        12,
        0,
    )
    assert (states.pool, states.capacity_bytes, states.checkpoint_peak_count) == ("states", 20, 2)
    assert (states.checkpoints_evicted, states.kv_peak_bytes) == (3, 0)
