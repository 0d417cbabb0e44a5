"""Pools by name, and what a span gives up. A token of KV is one byte, a state ten."""

from __future__ import annotations

import pytest

from policies.eviction.base import BaseEviction
from policies.eviction.lru import Lru
from policies.eviction.ttl import Ttl
from simulator.base.errors import UsageError
from simulator.cache.layout import Split, layout_of, parse_pools, pool_names
from simulator.plugins.context import SPAN, TAIL, Sizes
from simulator.plugins.entries import Checkpoint, KvSpan


def layout(pools="unified", capacity_bytes=100, order=Lru, *, page_tokens=1, cut=TAIL, timed=True):
    sizes = Sizes(1, 10, page_tokens)
    return layout_of(pools, sizes, cut, capacity_bytes, lambda _: order(), timed=timed)


class Sparing(BaseEviction):
    spares_states = True


def span_of(kv_end, *states):
    """Return a span with KV up to a token, and states."""
    span = KvSpan(KvSpan(None, -1, 0), 0, 40)
    span.kv_end = span.size_bytes = kv_end
    for position in states:
        span.add(Checkpoint(span, position, 10))
    return span


# --- pools ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "split", "states_bytes"),
    [
        ("split:states=64", Split(64, None), 640),
        ("split:states=0", Split(0, None), 0),
        ("split:states=8GiB", Split(None, 8 << 30), 8 << 30),
        ("split:states=1.5 kB", Split(None, 1500), 1500),
    ],
)
def test_a_split_names_slots_or_bytes(text, split, states_bytes):
    assert parse_pools(text) == split
    assert split.states_bytes(10) == states_bytes
    assert pool_names(text) == ("kv", "states")


def test_one_pool_is_no_split():
    assert parse_pools("unified") is None
    assert pool_names("unified") == ("unified",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unknown pools ''"),
        ("split", "expected unified, split:states=64"),
        ("split:states=", "expected unified"),
        ("split:kv=3", "unknown pools 'split:kv=3'"),
        ("split:states=-1", "found '-1'"),
        ("split:states=many", "found 'many'"),
    ],
)
def test_what_is_no_layout_is_told(text, problem):
    with pytest.raises(UsageError, match=problem):
        parse_pools(text)


def test_of_a_split_kv_has_what_the_states_leave():
    both = layout("split:states=3", 100)
    assert {name: pool.capacity_bytes for name, pool in both.pools.items()} == {
        "kv": 70,
        "states": 30,
    }
    assert (both.kv, both.states) == (both.pools["kv"], both.pools["states"])


def test_an_unbounded_split_bounds_its_states_alone():
    both = layout("split:states=3", None)
    assert (both.kv.capacity_bytes, both.states.capacity_bytes) == (None, 30)
    assert (both.kv.evicts, both.states.evicts) == (False, True)


def test_states_that_take_more_than_there_is_are_refused():
    assert layout("split:states=10", 100).kv.capacity_bytes == 0
    with pytest.raises(UsageError, match="take 110 bytes, more than the capacity of 100"):
        layout("split:states=11", 100)


def test_one_pool_holds_both():
    one = layout()
    assert one.kv is one.states is one.pools["unified"]


@pytest.mark.parametrize("timed", [True, False])
def test_without_times_nothing_expires(timed):
    assert layout("unified", None, lambda: Ttl(10.0), timed=timed).kv.evicts == timed


# --- what a span gives up -------------------------------------------------------------------


@pytest.mark.parametrize(("short_bytes", "end"), [(1, 12), (3, 8), (7, 4), (8, 4), (12, 0)])
def test_the_tail_goes_in_whole_pages(short_bytes, end):
    assert layout(page_tokens=4).end_of_rest(span_of(13), short_bytes) == end


def test_states_beyond_the_new_end_count_where_they_free_room_for_kv():
    span = span_of(20, 18)
    assert layout().end_of_rest(span, 12) == 17  # 3 tokens and the state
    assert layout("split:states=3").end_of_rest(span, 12) == 8


def test_more_than_a_span_holds_takes_all_of_it():
    assert layout().end_of_rest(span_of(20), 21) == 0


def test_a_span_that_is_cut_whole_gives_up_all():
    assert layout(cut=SPAN).end_of_rest(span_of(20, 18), 1) == 0


@pytest.mark.parametrize(("page_tokens", "end"), [(1, 7), (4, 8)])
def test_what_lies_behind_the_last_state_goes_first_where_states_are_spared(page_tokens, end):
    assert layout(order=Sparing, page_tokens=page_tokens).end_of_rest(span_of(20, 7), 16) == end


def test_where_states_have_their_own_pool_none_are_spared():
    assert layout("split:states=3", order=Sparing).end_of_rest(span_of(20, 7), 16) == 4


def test_kv_grows_into_the_free_bytes_in_whole_pages():
    one = layout(capacity_bytes=11, page_tokens=4)
    one.kv.take_kv(6)
    assert one.fitting_end(span_of(6)) == 8  # 5 bytes are free: 11 tokens, 8 of them in pages


@pytest.mark.parametrize(("kv_end", "start"), [(1, 0), (4, 0), (5, 4), (8, 4)])
def test_where_the_last_page_starts(kv_end, start):
    assert layout(page_tokens=4).page_start(span_of(kv_end)) == start
