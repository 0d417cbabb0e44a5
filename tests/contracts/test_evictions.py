"""What every registered eviction policy promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.admission import ADMISSION
from policies.eviction.lru import Lru
from policies.registry import create
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext, Sizes
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.protocols import Expiring, Overlap
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from tests.contracts.plugins import names
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of
from tests.simulator.test_chunked_commit import Chunked

ROOT = KvSpan(None, -1, 0)


@pytest.fixture(params=names("eviction"))
def name(request):
    return request.param


@pytest.fixture
def policy(name):
    return create("eviction", name)


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
    spans = [KvSpan(ROOT, 0, 4) for _ in range(3)]
    for span in spans:
        span.kv_end = span.size_bytes = 4
        policy.on_insert(span)
    first = policy.victim()
    first.kv_end = first.size_bytes = 0
    policy.on_evict(first)
    assert policy.victim() is not first
    first.kv_end = first.size_bytes = 4
    policy.on_insert(first)
    gone = set()
    while (victim := policy.victim()) is not None:
        gone.add(id(victim))
        victim.kv_end = victim.size_bytes = 0
        policy.on_evict(victim)
    assert gone == set(map(id, spans))


def test_it_never_touches_bytes_and_the_cache_stays_whole(policy):
    rng = np.random.default_rng(3)
    prompts = [tuple(rng.integers(0, 2, rng.integers(1, 14)).tolist()) for _ in range(150)]
    scenario = Scenario(
        profile=toy_profile(page_tokens=2),
        placer=lambda: Wanted(3, 6, 9, end=True),
        eviction=lambda: policy,
        admission=ADMISSION["always"],
        capacity_bytes=90,
        server="instant",
        check_every_request=True,
    )
    result = simulate(trace_of(prompts), scenario)
    assert result.counters.peak_bytes <= 90
    assert result.counters.checkpoints_evicted > 0


def test_an_ample_capacity_makes_all_policies_equal(name):
    prompts = [(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (6,), (1, 2, 4, 7)]
    saved = []
    for capacity in (None, 10**6):
        scenario = Scenario(
            profile=toy_profile(),
            placer=lambda: Wanted(2, end=True),
            eviction=lambda: create("eviction", name),
            admission=ADMISSION["always"],
            capacity_bytes=capacity,
            server="instant",
        )
        saved.append(simulate(trace_of(prompts), scenario).columns["saved_tokens"].tolist())
    assert saved[0] == saved[1] == [0, 2, 3, 0, 3]


PROMPTS = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple), min_size=1, max_size=25
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    prompts=PROMPTS,
    capacity=st.integers(0, 80),
    kv_bytes=st.integers(0, 3),
    together=st.integers(1, 4),
    admission=st.sampled_from(names("admission")),
    server=st.sampled_from(["queue", Chunked]),
)
def test_the_books_balance_whatever_is_admitted_and_pinned(
    name, prompts, capacity, kv_bytes, together, admission, server
):
    scenario = Scenario(
        profile=toy_profile(kv_bytes=kv_bytes, page_tokens=2),
        placer=lambda: Wanted(2, 5, end=True),
        eviction=lambda: create("eviction", name),
        admission=lambda: create("admission", admission),
        capacity_bytes=capacity,
        server=server,
        check_every_request=True,
    )
    arrivals = [float(request // together) for request in range(len(prompts))]
    result = simulate(trace_of(prompts, arrivals), scenario)
    assert result.counters.peak_bytes <= capacity
    if capacity == 0:
        assert not result.columns["saved_tokens"].any()


EXPIRING = [name for name in names("eviction") if isinstance(create("eviction", name), Expiring)]


@pytest.mark.parametrize("name", EXPIRING)
@pytest.mark.parametrize("capacity", [None, 60])
@pytest.mark.parametrize("seed", range(4))
def test_what_expires_is_free_and_only_in_a_trace_with_times(name, capacity, seed):
    rng = np.random.default_rng(seed)
    prompts = [tuple(rng.integers(0, 2, rng.integers(1, 14)).tolist()) for _ in range(200)]
    arrivals = np.cumsum(rng.exponential(40.0, 200)).tolist()
    left = []
    for times, server in ((arrivals, "queue"), (None, "instant")):
        policy = create("eviction", name)
        asked = policy.expired

        def expired(now_seconds, asked=asked):
            entry = asked(now_seconds)
            assert entry is None or entry.evictable
            assert asked(now_seconds) is entry  # asking changes nothing
            left.append(entry)
            return entry

        policy.expired = expired
        scenario = Scenario(
            profile=toy_profile(page_tokens=2),
            placer=lambda: Wanted(3, 6, 9, end=True),
            eviction=lambda policy=policy: policy,
            admission=ADMISSION["always"],
            capacity_bytes=capacity,
            server=server,
            check_every_request=True,
        )
        simulate(trace_of(prompts, times), scenario)
        assert any(left) == (times is not None)
        left.clear()


def test_blocked_entries_are_not_searched_again(policy):
    """With n entries blocked, asking m times looks at some n + m of them, not at n x m."""
    looks = 0

    class Watched(Checkpoint):
        __slots__ = ()

        @property
        def evictable(self):
            nonlocal looks
            looks += 1
            return Checkpoint.evictable.fget(self)

    entries = [Watched(ROOT, position, 10) for position in range(1, 201)]
    for entry in entries:
        policy.on_insert(entry)
        entry.pins = entry.position <= 190
    if isinstance(policy, Lru):  # a pinned path is short, and its order needs no search
        return
    for _ in range(100):
        assert policy.victim().position > 190
    assert looks <= 3 * 200 + 5 * 100


def spans_below(root):
    """Return the spans of four prompts, resident; the second and the third share their start."""
    shared = KvSpan(root, 0, 8, request=1)
    spans = [KvSpan(root, 0, 6, request=0), KvSpan(shared, 8, 12, request=1)]
    spans += [KvSpan(shared, 8, 13, request=2), KvSpan(root, 0, 9, request=3), shared]
    for span in spans:
        span.kv_end, span.size_bytes = span.stop, span.stop - span.start
    shared.children_resident, root.children_resident = 2, 3
    return spans


def use(policy, request, span, known):
    """Tell a policy of a request whose KV enters, or is used, from the deepest span upwards."""
    policy.observe(Overlap(0, span.stop, session=request % 2, label=request % 2, request=request))
    while span.stop:
        (policy.on_hit if span in known else policy.on_insert)(span)
        known.add(span)
        span = span.parent


def emptied(policy):
    """Evict all spans whole, and return their spans in order."""
    gone = []
    while (span := policy.victim()) is not None:
        gone.append((span.request, span.start, span.stop))
        span.kv_end, span.size_bytes = span.start, 0
        span.parent.children_resident -= 1
        policy.on_evict(span)
        if span.parent.evictable:
            policy.on_evictable(span.parent)
    return gone


@pytest.mark.parametrize("kv_end", [9, 5, 4, 2])
def test_a_split_changes_the_order_of_no_other_runs(name, kv_end):
    """Its lower part goes before its upper one, and each of them once."""
    orders = []
    for splits in (False, True):
        policy = create("eviction", name)
        policy.begin(CacheContext(Sizes(1, 10), Grid(), CostModel(toy_profile()), 40))
        spans, known = spans_below(KvSpan(None, -1, 0)), set()
        for request, span in enumerate((*spans[:4], spans[1], spans[3], spans[0])):
            use(policy, request, span, known)
        lower = spans[3]
        lower.kv_end = lower.size_bytes = kv_end
        if splits:
            policy.on_split(lower.cut(4, 99), lower)
        orders.append(emptied(policy))
    plain, split = orders
    assert [span for span in split if span[0] != 3] == [span for span in plain if span[0] != 3]
    expected = [(3, 4, 9), (3, 0, 4)] if kv_end > 4 else [(3, 0, 4)]
    assert [span for span in split if span[0] == 3] == expected
