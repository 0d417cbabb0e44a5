"""Flat object mode: the laws of caches."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.eviction import EVICTION, BaseEviction
from policies.eviction.prefixed import PrefixEviction
from policies.objects import ObjectStream, replay
from policies.objects.libcachesim import RULES, spelled_out
from policies.registry import create
from simulator.base.errors import UsageError

BY_RULES = [f"{name}:rules=libcachesim" for name in RULES]

STREAMS = st.lists(st.integers(0, 12), min_size=1, max_size=120)
SIZED = st.tuples(STREAMS, st.lists(st.integers(1, 40), min_size=13, max_size=13))
CLASSIC = sorted(n for n, policy in EVICTION.items() if not issubclass(policy, PrefixEviction))


def hits(spec, ids, capacity, sizes=None):
    stream = ObjectStream.of(ids, [1 if sizes is None else sizes[i] for i in ids])
    return replay(stream, create("eviction", spelled_out(spec)), capacity)


@given(STREAMS, st.integers(0, 14))
def test_lru_of_more_capacity_hits_wherever_less_did(ids, capacity):
    small, large = (hits("lru", ids, capacity + more).hit for more in (0, 1))
    assert not (small & ~large).any()


@pytest.mark.parametrize("spec", [*CLASSIC, *BY_RULES])
def test_no_capacity_is_no_cache(spec):
    assert hits(spec, [1, 1, 2, 1], 0).hits == 0


@pytest.mark.parametrize("spec", [*CLASSIC, *BY_RULES])
@settings(max_examples=25)
@given(SIZED, st.integers(1, 300))
def test_the_cache_is_never_over_full(spec, stream, capacity):
    ids, sizes = stream
    outcome = hits(spec, ids, capacity, sizes)
    assert outcome.hits + outcome.misses == len(ids)
    assert outcome.peak_bytes <= capacity


@pytest.mark.parametrize("spec", CLASSIC)
@settings(max_examples=25)
@given(SIZED, st.integers(100, 250), st.permutations(range(13)))
def test_names_and_units_change_nothing(spec, stream, capacity, names):
    ids, sizes = stream
    before = hits(spec, ids, capacity, sizes).hit
    renamed = [names[i] for i in ids]
    by_name = {names[i]: size for i, size in enumerate(sizes)}
    assert (hits(spec, renamed, capacity, by_name).hit == before).all()
    scaled = [64 * size for size in sizes]
    assert (hits(spec, ids, 64 * capacity, scaled).hit == before).all()


@given(STREAMS, st.integers(1, 10))
def test_belady_is_never_beaten_on_equal_sizes(ids, capacity):
    best, best_of_all = (
        hits(spec, ids, capacity).hits for spec in ("belady", "belady:bypass=true")
    )
    assert best <= best_of_all
    for spec in (*CLASSIC, *BY_RULES):
        if spec == "lirs:rules=libcachesim":  # has phantoms, as documented
            continue
        turns_away = spec == "gdsf" or spec in BY_RULES
        assert hits(spec, ids, capacity).hits <= (best_of_all if turns_away else best), spec


@given(st.lists(st.integers(0, 4), max_size=10), st.integers(1, 3))
def test_belady_is_the_optimum(ids, capacity):
    @cache
    def most(index, held):
        if index == len(ids):
            return 0
        if ids[index] in held:
            return 1 + most(index + 1, held)
        if len(held) < capacity:
            return most(index + 1, held | {ids[index]})
        return max(most(index + 1, held - {gone} | {ids[index]}) for gone in held)

    if ids:
        assert hits("belady", ids, capacity).hits == most(0, frozenset())


@pytest.mark.parametrize("spec", CLASSIC)
@settings(max_examples=25)
@given(SIZED)
def test_ample_capacity_makes_all_equal(spec, stream):
    ids, sizes = stream
    assert hits(spec, ids, 13 * 40, sizes).misses == len(set(ids))


def test_an_object_larger_than_the_cache_does_not_enter():
    outcome = hits("lru", [0, 1, 1, 0], 5, {0: 2, 1: 6})
    assert outcome.hit.tolist() == [False, False, False, True]


def test_an_object_that_has_grown_takes_the_place_of_its_old_bytes():
    stream = ObjectStream.of(["a", "b", "b", "a"], [3, 3, 7, 3])
    assert stream.resized() == 1
    outcome = replay(stream, create("eviction", "lru"), 10)
    assert outcome.hit.tolist() == [False, False, True, True]
    assert (outcome.hit_bytes, outcome.requested_bytes, outcome.peak_bytes) == (10, 16, 10)


def test_an_object_that_outgrows_the_cache_leaves_it():
    stream = ObjectStream.of(["a", "a", "a"], [3, 11, 3])
    assert replay(stream, create("eviction", "lru"), 10).hit.tolist() == [False, True, False]


CHANGING = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=1, max_size=120)


@pytest.mark.parametrize("spec", [*CLASSIC, *BY_RULES])
@settings(max_examples=25)
@given(CHANGING, st.integers(1, 200))
def test_the_cache_is_never_over_full_when_sizes_change(spec, requests, capacity):
    stream = ObjectStream.of(*zip(*requests, strict=True))
    outcome = replay(stream, create("eviction", spelled_out(spec)), capacity)
    assert outcome.hits + outcome.misses == len(stream)
    assert outcome.peak_bytes <= capacity


@given(CHANGING, st.integers(1, 200))
def test_lru_of_changing_sizes_against_plain_code(requests, capacity):
    held: dict[int, int] = {}
    expected = []
    for key, size_bytes in requests:
        expected.append(key in held)
        held.pop(key, None)
        if size_bytes <= capacity:
            while sum(held.values()) + size_bytes > capacity:
                held.pop(next(iter(held)))
            held[key] = size_bytes
    stream = ObjectStream.of(*zip(*requests, strict=True))
    assert replay(stream, create("eviction", "lru"), capacity).hit.tolist() == expected


def test_requests_of_the_warm_up_do_not_count():
    outcome = replay(ObjectStream.of([1, 2, 1, 2], [5] * 4), create("eviction", "lru"), 20, first=2)
    counts = outcome.hits, outcome.misses, outcome.hit_bytes, outcome.requested_bytes
    assert counts == (2, 0, 10, 10)


def test_uniform_counts_objects():
    stream = ObjectStream.of(["x", "y", "x"], [500, 700, 500])
    assert replay(stream, create("eviction", "lru"), 2, uniform=True).hit_bytes == 1
    assert replay(stream, create("eviction", "lru"), 1200).hit_bytes == 500


@pytest.mark.parametrize(
    ("ids", "sizes", "problem"),
    [
        ([1, 2], [1], "one length"),
        ([1, 2], [1, 0], "size of request 1: expected 1 or more, found 0"),
    ],
)
def test_a_bad_stream_is_refused(ids, sizes, problem):
    with pytest.raises(ValueError, match=problem):
        ObjectStream.of(ids, sizes)


def test_a_policy_of_ones_own_works_without_the_hooks():
    class Mru:
        clairvoyant = False

        def __init__(self):
            self.order = []

        def on_insert(self, entry):
            self.order.append(entry)

        def on_hit(self, entry):
            self.order.remove(entry)
            self.order.append(entry)

        def on_evict(self, entry):
            self.order.remove(entry)

        def victim(self):
            return self.order[-1]

    stream = ObjectStream.of([1, 2, 3, 1], [1] * 4)
    assert replay(stream, Mru(), 2).hit.tolist() == [False, False, False, True]
    with pytest.raises(UsageError, match="0 bytes or more"):
        replay(stream, Mru(), -1)
    Mru.clairvoyant = True
    with pytest.raises(UsageError, match="looks ahead"):
        replay(stream, Mru(), 2)


@pytest.mark.parametrize("hooks", [False, True])
def test_a_policy_without_a_victim_is_told_so_by_name(hooks):
    class Idle(BaseEviction):
        inserts_first = hooks

    with pytest.raises(UsageError, match="eviction Idle: names no victim"):
        replay(ObjectStream.of([1, 2], [1, 1]), Idle(), 1)


def test_an_empty_stream():
    stream = ObjectStream.of([], [])
    assert all(issubclass(policy, BaseEviction) for policy in EVICTION.values())
    for policy in map(EVICTION.get, CLASSIC):
        assert replay(stream, policy(), 10).misses == 0
