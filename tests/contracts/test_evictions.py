"""What every registered eviction policy promises."""

from __future__ import annotations

import numpy as np
import pytest

from policies.admission import ADMISSION
from policies.eviction import EVICTION
from simulator.entry import Checkpoint, KvRun
from simulator.simulation import Scenario, simulate
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

ROOT = KvRun(None, -1, 0)


@pytest.fixture(params=sorted(EVICTION))
def policy(request):
    return EVICTION[request.param]()


def checkpoints(count):
    return [Checkpoint(ROOT, position, 10) for position in range(1, count + 1)]


def evict(policy, entry):
    entry.resident = False
    policy.on_evict(entry)


def test_it_says_whether_it_looks_ahead(policy):
    assert policy.clairvoyant in {True, False}


def test_an_empty_cache_has_no_victim(policy):
    assert policy.victim() is None


def test_asking_for_the_victim_changes_nothing(policy):
    for entry in checkpoints(5):
        policy.on_insert(entry)
    first = policy.victim()
    assert all(policy.victim() is first for _ in range(3))


def test_every_entry_leaves_once(policy):
    entries = checkpoints(20)
    for entry in entries:
        policy.on_insert(entry)
    for entry in entries[::3]:
        policy.on_hit(entry)
    gone = []
    while (victim := policy.victim()) is not None:
        gone.append(victim.position)
        evict(policy, victim)
    assert sorted(gone) == list(range(1, 21))


def test_a_pinned_entry_is_no_victim_until_it_is_released(policy):
    entries = checkpoints(4)
    for entry in entries:
        policy.on_insert(entry)
        entry.pins = 1
    assert policy.victim() is None
    for entry in entries:
        entry.pins = 0
        policy.on_evictable(entry)
    assert policy.victim() in entries


def test_an_entry_that_comes_back_can_leave_again(policy):
    runs = [KvRun(ROOT, 0, 4) for _ in range(3)]
    for run in runs:
        run.kv_end = 4
        policy.on_insert(run)
    first = policy.victim()
    first.kv_end = 0
    policy.on_evict(first)
    assert policy.victim() is not first
    first.kv_end = 4
    policy.on_insert(first)
    gone = set()
    while (victim := policy.victim()) is not None:
        gone.add(id(victim))
        victim.kv_end = 0
        policy.on_evict(victim)
    assert gone == set(map(id, runs))


def test_it_never_touches_bytes_and_the_cache_stays_whole(policy):
    rng = np.random.default_rng(3)
    prompts = [tuple(rng.integers(0, 2, rng.integers(1, 14)).tolist()) for _ in range(150)]
    scenario = Scenario(
        profile=toy_profile(page_tokens=2),
        placer=Wanted(3, 6, 9, end=True),
        eviction=policy,
        admission=ADMISSION["always"](),
        capacity_bytes=90,
        server="instant",
        check_every_request=True,
    )
    result = simulate(trace_of(prompts), scenario)
    assert result.counters.peak_bytes <= 90
    assert result.counters.checkpoints_evicted > 0


def test_an_ample_capacity_makes_all_policies_equal(policy):
    prompts = [(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (6,), (1, 2, 4, 7)]
    saved = []
    for capacity in (None, 10**6):
        scenario = Scenario(
            profile=toy_profile(),
            placer=Wanted(2, end=True),
            eviction=type(policy)(),
            admission=ADMISSION["always"](),
            capacity_bytes=capacity,
            server="instant",
        )
        saved.append(simulate(trace_of(prompts), scenario).columns["saved_tokens"].tolist())
    assert saved[0] == saved[1] == [0, 2, 3, 0, 3]
