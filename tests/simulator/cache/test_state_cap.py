"""Caps on resident states: what is counted, what is given up, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import create
from simulator.base.errors import UsageError
from simulator.cache.integrity import IntegrityError
from simulator.cache.state_cap import CapRule, parse_cap
from simulator.plugins.protocols import Prefix
from simulator.simulation import Scenario, simulate
from tests.contracts.test_placers import SPECS
from tests.simulator.caches import begin, cache_of, finish, serve
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

DOCUMENT = tuple(range(8))


class Keeping(Wanted):
    """Keeps the shallowest states, and remembers what it was asked."""

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        self.asked = (prefix.prompt_tokens, list(states), list(wanted), most)
        return sorted({*states, *wanted})[:most]


def resident(cache):
    """Return the positions of all states by the end of their span."""
    return sorted((state.position, span.stop) for span in cache.tree for state in span.checkpoints)


def capped(prompts, placer, cap, **more):
    """Return a cache with a cap."""
    return cache_of(trace_of(prompts), placer, cap=parse_cap(cap), **more)


@pytest.mark.parametrize(
    ("text", "rule"),
    [("8", ("path", 8)), ("path:1", ("path", 1)), (" entry:30 ", ("entry", 30))],
)
def test_a_cap_is_named(text, rule):
    assert parse_cap(text) == CapRule(*rule)
    assert parse_cap(parse_cap(text).name) == CapRule(*rule)


@pytest.mark.parametrize("text", ["", "0", "path:0", "leaf:3", "path:", "1.5", "-1", "9" * 11])
def test_what_is_no_cap_is_named(text):
    with pytest.raises(UsageError, match="expected path:8"):
        parse_cap(text)


def test_without_retain_what_is_wanted_stays_and_gaps_stay_even():
    cache = capped([DOCUMENT[:6], DOCUMENT], Wanted(2, 4, 6, 8), "path:2")
    serve(cache, 0)  # wants 2, 4, 6: the least gap product is that of 6, (6 - 4) (7 - 6)
    assert resident(cache) == [(2, 6), (4, 6)]
    serve(cache, 1)  # resumes at 4 and wants 6 and 8
    assert resident(cache) == [(6, 6), (8, 8)]


def test_the_placer_chooses():
    placer = Keeping(2, 4, 6, 8)
    cache = capped([DOCUMENT[:6], DOCUMENT], placer, "path:2")
    serve(cache, 0)
    assert placer.asked == (6, [], [2, 4, 6], 2)
    assert serve(cache, 1).written == []
    assert placer.asked == (8, [2, 4], [6, 8], 2)
    assert resident(cache) == [(2, 6), (4, 6)]


def test_states_that_are_not_to_stay_are_not_captured():
    cache = capped([DOCUMENT], Keeping(2, 4, 6, 8), "path:3")
    running = begin(cache, 0)
    assert running.captures == [2, 4, 6]
    finish(cache, running)


def test_a_state_of_a_trunk_counts_for_every_branch():
    left, right = (*DOCUMENT[:4], 10, 11), (*DOCUMENT[:4], 20, 21)
    cache = capped([left, right], Wanted(4, 6), "path:1")
    serve(cache, 0)
    assert resident(cache) == [(4, 6)]  # the gap product of 6 is less
    serve(cache, 1)  # the state of the trunk gives way to the new one
    assert resident(cache) == [(6, 6)]


def test_a_new_state_of_a_trunk_relieves_other_branches():
    class ByBranch(Wanted):
        def place(self, prefix, window):
            return [6] if prefix.request == 0 else [4]

    left, right = (*DOCUMENT[:4], 10, 11), (*DOCUMENT[:4], 20, 21)
    cache = capped([left, right, (*left, 12)], ByBranch(), "path:1")
    serve(cache, 0)
    assert resident(cache) == [(6, 6)]
    serve(cache, 1)  # writes 4, above the 6 of the other branch
    assert resident(cache) == [(4, 4)]
    assert serve(cache, 2).match.state_evicted == 2  # it resumes at 4, and 6 was there


def test_an_entry_holds_its_own_states_beside_those_of_what_it_continues():
    prompts = [DOCUMENT, (*DOCUMENT, 10, 11, 12), (*DOCUMENT, 20, 21, 22)]
    for cap, states in (
        ("entry:1", [(8, 8), (11, 11), (11, 11)]),
        ("path:1", [(11, 11)]),
        ("entry:2", [(4, 8), (8, 8), (11, 11), (11, 11)]),
        ("path:2", [(8, 8), (11, 11), (11, 11)]),
    ):
        cache = capped(prompts, Wanted(4, 8, end=True), cap)
        for request in range(3):
            serve(cache, request)
        assert resident(cache) == states, cap


def test_what_another_request_uses_is_not_given_up():
    prompts = [DOCUMENT[:4], DOCUMENT, (*DOCUMENT[:4], 20, 21)]
    cache = capped(prompts, Wanted(4, end=True), "path:1")
    serve(cache, 0)
    one, other = begin(cache, 1), begin(cache, 2)
    finish(cache, one)  # it would store 8, but 4 is in use
    assert one.written == []
    assert resident(cache) == [(4, 4)]
    finish(cache, other)


def test_the_state_that_was_resumed_from_may_go():
    prompts = [DOCUMENT[:4], DOCUMENT]
    cache = capped(prompts, Wanted(end=True), "path:1")
    serve(cache, 0)
    running = begin(cache, 1)
    assert running.match.resume == 4
    finish(cache, running)
    assert resident(cache) == [(8, 8)]


def test_what_a_state_displaces_stays_where_it_is_not_admitted():
    prompts = [DOCUMENT[:4], DOCUMENT, DOCUMENT]
    placer, admission = Wanted(end=True), create("admission", "never")
    cache = capped(prompts, placer, "path:1", admission=admission)
    for request in range(3):
        serve(cache, request)
    assert resident(cache) == []


def test_a_placer_that_keeps_too_much_is_named():
    class Greedy(Keeping):
        def retain(self, prefix, states, wanted, most):
            return [*states, *wanted]

    cache = capped([DOCUMENT], Greedy(2, 4), "path:1")
    with pytest.raises(UsageError, match="placer Greedy: retain returned"):
        begin(cache, 0)


@pytest.mark.parametrize("cap", ["path:2", "entry:2"])
def test_the_recount_sees_too_many(cap):
    cache = capped([DOCUMENT], Wanted(2, 4), cap)
    serve(cache, 0)
    cache._cap._most = 1
    with pytest.raises(IntegrityError, match="2 states, where"):
        cache.check()


TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple)
ANSWERS = st.lists(st.integers(0, 1), max_size=4).map(tuple)


@settings(max_examples=300, deadline=None)
@given(
    requests=st.lists(st.tuples(TOKENS, ANSWERS), min_size=1, max_size=14),
    placer=st.sampled_from(SPECS),
    admission=st.sampled_from(["always", "second_sighting", "tinylfu"]),
    cap=st.sampled_from(["path:1", "path:2", "path:4", "entry:1", "entry:3"]),
    capacity=st.one_of(st.none(), st.integers(20, 80)),
    gap=st.integers(0, 8),
    count_running=st.booleans(),
)
def test_no_request_leaves_more_than_the_cap(
    requests, placer, admission, cap, capacity, gap, count_running
):
    prompts, answers = zip(*requests, strict=True)
    arrivals = [float(gap * (number // 2)) for number in range(len(prompts))]  # pairs meet
    scenario = Scenario(
        toy_profile(state_bytes=6, page_tokens=2),
        partial(create, "placer", placer),
        partial(create, "eviction", "lru"),
        partial(create, "admission", admission),
        capacity,
        count_running=count_running,
        states_per_prefix=cap,
        check_every_request=True,  # recounts the cap
    )
    simulate(trace_of(prompts, arrivals, answers=answers), scenario)


@settings(max_examples=100, deadline=None)
@given(
    requests=st.lists(st.tuples(TOKENS, ANSWERS), min_size=1, max_size=14),
    placer=st.sampled_from([spec for spec in SPECS if "clairvoyant" not in spec]),
    scope=st.sampled_from(["path", "entry"]),
)
def test_a_cap_that_is_never_reached_changes_nothing(requests, placer, scope):
    prompts, answers = zip(*requests, strict=True)
    columns = []
    for cap in (None, f"{scope}:1000"):
        scenario = Scenario(
            toy_profile(),
            partial(create, "placer", placer),
            partial(create, "eviction", "lru"),
            partial(create, "admission", "always"),
            server="instant",
            states_per_prefix=cap,
        )
        columns.append(simulate(trace_of(prompts, answers=answers), scenario).columns)
    for name in ("saved_tokens", "checkpoints_written", "checkpoints_resident"):
        assert columns[0][name].tolist() == columns[1][name].tolist()
