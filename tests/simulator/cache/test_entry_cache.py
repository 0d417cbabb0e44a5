"""The cache of entries: by hand, against an oracle, and with every placer."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.eviction.fifo import Fifo
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.cache.entry_cache import EntryCache, EntryRule, parse_kind
from simulator.cache.integrity import IntegrityError
from simulator.results.records import LOSSES
from tests.contracts.test_placers import SPECS
from tests.simulator.cache.naive_entries import NaiveEntries
from tests.simulator.caches import begin, context_of, finish, serve
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of
from tests.simulator.replays import replay

DOCUMENT = tuple(range(8))


def cache_of(prompts, placer, text, capacity_bytes=None):
    rule = parse_kind(text)
    return EntryCache(trace_of(prompts), context_of(capacity_bytes), placer, rule, Fifo())


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("tree", None),
        ("entries:last=20", EntryRule(20, False)),
        (" entries:per_document=1 ", EntryRule(1, True)),
    ],
)
def test_a_cache_is_named(text, rule):
    assert parse_kind(text) == rule
    assert rule is None or parse_kind(rule.name) == rule


@pytest.mark.parametrize("text", ["", "entries", "entries:last=0", "entries:first=3", "fifo"])
def test_what_is_no_cache_is_named(text):
    with pytest.raises(UsageError, match="expected tree, entries:last=20"):
        parse_kind(text)


def test_of_equals_the_oldest_entry_is_used():
    class ByTurn(Wanted):
        def place(self, prefix, window):
            return [4] if prefix.request == 0 else [6]

    prompts = [(*DOCUMENT, 10), (*DOCUMENT, 20), (*DOCUMENT, 30), (*DOCUMENT, 20, 21)]
    cache = cache_of(prompts, ByTurn(), "entries:last=5")
    assert [serve(cache, request).match.resume for request in range(4)] == [0, 4, 4, 6]


def test_an_entry_leaves_as_a_whole():
    prompts = [DOCUMENT, (50, 51), (60, 61), DOCUMENT]
    for text, resume in (("entries:last=2", 0), ("entries:per_document=2", 4)):
        cache = cache_of(prompts, Wanted(4), text)
        served = [serve(cache, request) for request in range(4)]
        assert served[3].match.resume == resume
        assert served[3].match.kv_evicted == (0 if resume else 7)
    assert cache.usage() == (2, 20, 8 + 2 + 2 + 8)


def test_positions_before_the_resume_point_are_stored_too_and_cost_no_time():
    cache = cache_of([DOCUMENT, (*DOCUMENT, 10)], Wanted(2, 4), "entries:last=5")
    serve(cache, 0)
    running = begin(cache, 1)
    assert running.captures == []
    finish(cache, running)
    assert [state.position for state in running.written] == [2, 4]


def test_placers_learn_what_the_entries_share():
    placer = Wanted(4)
    prompts = [DOCUMENT, (*DOCUMENT[:5], 20), (*DOCUMENT[:6], 30)]
    cache = cache_of(prompts, placer, "entries:last=1")
    for request in range(3):
        serve(cache, request)
    assert [overlap.depth for overlap in placer.overlaps] == [0, 5, 5]  # the first has left


def test_an_entry_in_use_stays():
    prompts = [DOCUMENT, (*DOCUMENT, 10), (20, 21)]
    cache = cache_of(prompts, Wanted(4), "entries:last=1")
    serve(cache, 0)
    reading, other = begin(cache, 1), begin(cache, 2)
    finish(cache, other)
    assert other.written == []
    finish(cache, reading)  # its own entry takes the place of the one it used
    assert [state.position for state in reading.written] == [4]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("more entries", lambda cache: setattr(cache, "_rule", EntryRule(1, False))),
        ("the states", lambda cache: cache._pool.take_checkpoints(1, 10)),
        ("the bytes of KV", lambda cache: cache._pool.take_kv(1)),
        ("the pins", lambda cache: setattr(cache._ages[0], "pins", 1)),
        ("the entries of documents", lambda cache: cache._entries.clear()),
    ],
)
def test_a_planted_fault_is_found(message, fault):
    cache = cache_of([DOCUMENT, (*DOCUMENT, 10)], Wanted(4), "entries:last=5")
    serve(cache, 0)
    serve(cache, 1)
    fault(cache)
    with pytest.raises(IntegrityError, match=message):
        cache.check()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"pools": "split:states=3"}, "does not know pools"),
        ({"admission": partial(create, "admission", "never")}, "does not know an admission"),
        ({"count_running": True}, "does not know counting"),
    ],
)
def test_what_does_not_apply_is_refused(setting, message):
    with pytest.raises(UsageError, match=message):
        replay([DOCUMENT], [0.0], lambda: Wanted(4), cache="entries:last=2", **setting)


TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple)
ANSWER = st.lists(st.integers(0, 1), max_size=4).map(tuple)
REQUESTS = st.lists(st.tuples(TOKENS, ANSWER), min_size=1, max_size=14)


@settings(max_examples=400)
@given(
    requests=REQUESTS,
    wanted=st.lists(st.integers(1, 10), max_size=4, unique=True),
    most=st.integers(1, 5),
    per_document=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 60)),
    state_bytes=st.integers(1, 12),
    kv_bytes=st.integers(1, 3),
    grid=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_every_request_agrees(
    requests, wanted, most, per_document, capacity, state_bytes, kv_bytes, grid
):
    prompts, answers = zip(*requests, strict=True)
    result = replay(
        prompts,
        None,
        lambda: Wanted(*wanted),
        granularity=grid[0],
        answers=answers,
        profile=toy_profile(kv_bytes, state_bytes, 1, grid[1]),
        capacity_bytes=capacity,
        server="instant",
        cache=EntryRule(most, per_document).name,
    )
    ends = dict(zip([(*p, *a) for p, a in requests], map(len, prompts), strict=True))
    oracle = NaiveEntries(
        lambda whole: sorted(p for p in wanted if p <= ends[whole]),
        most,
        per_document,
        capacity,
        kv_bytes,
        state_bytes,
        grid,
    )
    rows = result.columns
    for request, (prompt, answer) in enumerate(requests):
        ends[(*prompt, *answer)] = len(prompt)  # one whole may end after several prompts
        served = oracle.serve(prompt, answer)
        assert rows["saved_tokens"][request] == served.resume
        assert rows["kv_tokens"][request] == served.kv_depth
        losses = [int(rows[f"lost_{loss}_tokens"][request]) for loss in LOSSES[:8]]
        assert losses == served.losses
        assert served.resume + sum(losses) == len(prompt)
        assert rows["checkpoints_written"][request] == len(served.positions)
        held = oracle.entries
        assert rows["kv_bytes"][request] == sum(len(e.tokens) for e in held) * kv_bytes
        assert rows["checkpoints_resident"][request] == sum(len(e.positions) for e in held)


@settings(max_examples=150, deadline=None)
@given(
    requests=REQUESTS,
    placer=st.sampled_from(SPECS),
    kind=st.sampled_from(["entries:last=1", "entries:last=3", "entries:per_document=2"]),
    capacity=st.one_of(st.none(), st.integers(20, 80)),
    cap=st.sampled_from([None, "path:2", "entry:1"]),
)
def test_every_placer_serves_and_every_token_has_a_cause(requests, placer, kind, capacity, cap):
    prompts, answers = zip(*requests, strict=True)
    arrivals = [2.0 * (number // 2) for number in range(len(prompts))]
    rows = replay(
        prompts,
        arrivals,
        partial(create, "placer", placer),
        answers=answers,
        profile=toy_profile(state_bytes=6),
        capacity_bytes=capacity,
        cache=kind,
        states_per_prefix=cap,
    ).columns
    lost = sum(rows[f"lost_{loss}_tokens"] for loss in LOSSES)
    assert (rows["saved_tokens"] + lost == rows["prompt_tokens"]).all()
