"""Admission that looks at prefixes, worked by hand."""

from __future__ import annotations

import pytest

from policies.admission.branch_only import BranchOnly
from policies.admission.returns import Returns
from policies.admission.tinylfu import TinyLfu
from policies.admission.value import ValueAdmission
from simulator.plugins.departures import NO_DEPARTURES, Departure, Departures
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.protocols import Overlap
from tests.policies.eviction.hand import WORLD, request, root, span_below, state_in


def test_branch_only_admits_branch_points_ends_and_kv():
    policy = BranchOnly()
    policy.begin(WORLD)
    trunk = span_below(root(), 10)
    span_below(trunk, 13)
    leaf = span_below(trunk, 20)
    request(policy, prompt_tokens=20, depth=10, span=leaf)
    admitted = [
        p for p in (5, 10, 15, 20) if policy.admit(Checkpoint(leaf, p, 10), 10, NO_DEPARTURES)
    ]
    assert admitted == [10, 20]
    assert policy.admit(
        Checkpoint(span_below(leaf, 25), 25, 10), 10, NO_DEPARTURES
    )  # behind the answer
    assert policy.admit(leaf, 10, NO_DEPARTURES)


def test_tinylfu_counts_what_a_prompt_uses_of_the_cache():
    policy = TinyLfu()
    trunk = span_below(root(), 10)
    leaf = span_below(trunk, 20)
    state, other = state_in(trunk, 8), state_in(trunk, 10)
    request(policy, prompt_tokens=20, depth=20, span=leaf, resume=8)
    leaf.kv_end = 15  # the rest would have to come in: it is counted then
    request(policy, prompt_tokens=20, depth=20, span=leaf, resume=8)
    new = Checkpoint(leaf, 20, 10)
    for entry, uses in ((trunk, 2), (leaf, 1), (state, 2), (other, 0)):
        for asked in range(1, uses + 2):  # the candidate is counted whenever it is asked about
            assert policy.admit(new, 10, leaving(entry)) == (asked > uses)
        new = Checkpoint(leaf, new.position + 1, 10)


def used(policy, span, depth=0):
    """Tell of a prompt that ends with `span` and shares `depth` tokens with earlier ones."""
    request(policy, prompt_tokens=span.stop, depth=depth, span=span)


def leaving(*entries, short_bytes=1):
    """Return departures of states, each alone, and of spans with their states."""
    departures = []
    for entry in entries:
        states = [entry] if isinstance(entry, Checkpoint) else entry.checkpoints
        freed_bytes = entry.size_bytes + (0 if entry in states else 10 * len(states))
        departures.append(Departure(entry, freed_bytes, tuple(states)))
    return Departures(short_bytes, lambda _: iter(departures))


def whole_prompt(policy, stop):
    """Return the state at the end of a prompt that has just been served."""
    span = span_below(root(), stop)
    used(policy, span)
    return state_in(span, stop)


# Until something has been used, one place in four is expected to be at each age: 2/7 uses a request
# at an age of 0 or 1, 1/7 at 2 or 3, 1/14 from 4 to 7.


def test_value_weighs_the_candidate_against_all_that_leaves():
    for tokens, admitted in ((29, True), (31, False)):
        policy = ValueAdmission()
        policy.begin(WORLD)
        oldest, old, young, new = (whole_prompt(policy, n) for n in (tokens, 20, 15, 40))
        assert policy.admit(new, 10, NO_DEPARTURES)
        # 40 x 2/7 against (tokens + 20) x 1/7 + 15 x 2/7
        assert policy.admit(new, 10, leaving(oldest, old, young)) == admitted
        assert policy.admit(new, 10, leaving(oldest, old))


def test_value_looks_no_further_than_it_must():
    policy = ValueAdmission()
    policy.begin(WORLD)
    long, short = (whole_prompt(policy, stop) for stop in (40, 15))

    def foresee(_):
        yield Departure(long, 10, (long,))
        pytest.fail("looked at what could not change the answer")

    assert not policy.admit(short, 10, Departures(20, foresee))


def test_value_refuses_what_cannot_fit():
    policy = ValueAdmission()
    policy.begin(WORLD)
    short, long = (whole_prompt(policy, stop) for stop in (15, 40))
    assert policy.admit(long, 10, leaving(short, short_bytes=10))
    assert not policy.admit(long, 10, leaving(short, short_bytes=11))
    assert not policy.admit(long, 10, leaving())


def test_value_gives_up_what_saves_nothing():
    policy = ValueAdmission()
    policy.begin(WORLD)
    bare = span_below(root(), 500)
    used(policy, bare)  # KV without a state
    passed = state_in(bare, 100)
    passed.span = span_below(root(), 100)  # where no prompt has ended or parted
    new = whole_prompt(policy, 1)
    assert policy.admit(new, 10, leaving(passed))
    bare.checkpoints = ()
    assert policy.admit(new, 10, leaving(bare))


def test_value_counts_a_state_from_the_next_one_above():
    policy = ValueAdmission()
    policy.begin(WORLD)
    upper = span_below(root(), 80)
    used(policy, upper)
    lower = span_below(upper, 100)
    used(policy, lower, depth=80)
    alone, new = state_in(lower, 100), whole_prompt(policy, 50)
    assert not policy.admit(new, 10, leaving(alone))  # 50 against 100
    state_in(upper, 80)
    assert policy.admit(new, 10, leaving(alone))  # 50 against 20


@pytest.mark.parametrize(("tokens", "admitted"), [(26, True), (28, False)])
def test_value_takes_kv_for_its_share_of_what_it_is_good_for(tokens, admitted):
    policy = ValueAdmission()
    policy.begin(WORLD)
    victim = whole_prompt(policy, tokens)
    top = KvSpan(root(), 0, 30)
    used(policy, KvSpan(top, 30, 90))
    # The end of the prompt saves 90 seconds for 90 bytes of KV and 10 of a state: 27 for these 30.
    assert policy.admit(top, 30, leaving(victim)) == admitted


def test_returns_are_learned_from_all_prompts():
    returns = Returns(int)
    spans = [span_below(root(), 10) for _ in range(8)]
    for turn in range(400):
        returns.observe(Overlap(10 if turn >= 8 else 0, 10, span=spans[turn % 8]))
    # Each comes back after 8 requests: once in the 12 up to the middle of the ages from 8 to 15.
    assert returns.rate(spans[7]) == pytest.approx(1 / 12, rel=0.05)
    assert returns.rate(spans[0]) > 1.3 * returns.rate(spans[7])  # nearer to it, after 7
    for _ in range(100):
        returns.observe(Overlap(0, 10))
    assert returns.rate(spans[0]) < 0.01  # none has ever waited so long


def test_a_place_that_nothing_uses_is_forgotten():
    returns = Returns(int)
    span = span_below(root(), 10)
    returns.observe(Overlap(0, 10, span=span))
    assert returns.rate(span) > 0
    for _ in range(2**15):
        returns.observe(Overlap(0, 10))
    assert returns.rate(span) == 0


@pytest.mark.parametrize(("cut", "moves"), [(8, True), (7, False)])
def test_a_place_moves_up_with_the_state_that_lies_there(cut, moves):
    returns = Returns(lambda position: position - position % 4)
    lower = span_below(root(), 10)  # its state lies at 8
    returns.observe(Overlap(0, 10, span=lower))
    upper = lower.cut(cut, 1)
    returns.on_split(upper, lower)
    assert (returns.rate(upper) > 0) == moves
    assert (returns.rate(lower) > 0) == (not moves)


def test_the_end_of_an_answer_is_a_place_as_well():
    returns = Returns(int)
    prompt = span_below(root(), 10)
    answer = span_below(prompt, 14)
    returns.observe(Overlap(0, 10, span=prompt, end=answer))
    assert returns.rate(answer) == returns.rate(prompt) > 0


def test_a_place_that_moved_up_long_after_its_last_use_is_still_learned_from():
    returns = Returns(lambda position: position - position % 4)
    lower, other, often = (span_below(root(), stop) for stop in (10, 7, 5))
    returns.observe(Overlap(0, 10, span=lower))
    for _ in range(2**15 - 2):
        returns.observe(Overlap(0, 10))
    returns.observe(Overlap(0, 7, span=other))
    upper = lower.cut(9, 1)
    returns.on_split(upper, lower)  # behind `other` in their order, but far older
    for _ in range(100):  # enough uses for the rates to be made anew, twice
        returns.observe(Overlap(5, 5, span=often))
    assert returns.rate(upper) == 0
    assert returns.rate(often) > 0.5


def test_no_more_places_are_remembered_than_can_still_be_used():
    returns = Returns(int)
    spans = [span_below(root(), 10) for _ in range(2**15 + 100)]
    for span in spans:
        returns.observe(Overlap(0, 10, span=span))
    assert len(returns) <= 2**15 + 64
