"""What would leave the cache, worked by hand."""

from __future__ import annotations

import pytest

from policies.admission.base import BaseAdmission
from policies.eviction.base import BaseEviction
from policies.eviction.lru import Lru
from simulator.base.errors import UsageError
from simulator.plugins.context import SPAN
from simulator.plugins.entries import Checkpoint, KvSpan
from tests.simulator.caches import cache_of, serve
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of

# A token of KV is one byte and a state ten.


def filled(prompts, placer, *policies, capacity_bytes=100, **context):
    """Return a cache that has served all of `prompts` but the last."""
    cache = cache_of(trace_of(prompts), placer, *policies, capacity_bytes=capacity_bytes, **context)
    for request in range(len(prompts) - 1):
        serve(cache, request)
    return cache


def foreseen(cache, short_bytes):
    """Return the stop of each span or the position of each state, the bytes and the states."""
    return [
        (
            getattr(departure.entry, "stop", getattr(departure.entry, "position", None)),
            departure.freed_bytes,
            [state.position for state in departure.states],
        )
        for departure in cache.residency.foresee(cache.pools["unified"], short_bytes)
    ]


TEN, OTHER = (1,) * 10, (2,) * 6


def test_a_span_gives_up_its_tail_in_pages_and_the_states_there():
    cache = filled([TEN, OTHER], Wanted(5), page_tokens=4)
    assert foreseen(cache, 1) == [(10, 2, [])]
    assert foreseen(cache, 3) == [(10, 16, [5])]  # a page boundary lies at 8 and at 4
    assert foreseen(cache, 17) == [(10, 20, [5])]


def test_what_suffices_is_the_last_to_leave():
    cache = filled([TEN, OTHER, (3,)], Wanted())
    assert foreseen(cache, 10) == [(10, 10, [])]
    assert foreseen(cache, 11) == [(10, 10, []), (6, 1, [])]
    assert foreseen(cache, 99) == [(10, 10, []), (6, 6, [])]  # all that there is


def test_whole_spans_leave_whole():
    cache = filled([TEN, OTHER], Wanted(5), cut=SPAN)
    assert foreseen(cache, 1) == [(10, 20, [5])]


def test_a_span_is_named_once_what_lies_below_it_has_been():
    cache = filled([(*OTHER, 1), (*OTHER, 3, 3), TEN], Wanted())
    assert [stop for stop, _, _ in foreseen(cache, 9)] == [7, 8, 6]


class Sparing(BaseEviction):
    """Names one span again and again."""

    spares_states = True

    def __init__(self):
        self.tree = []

    def on_insert(self, entry):
        if not isinstance(entry, Checkpoint):
            self.tree.append(entry)

    def victims(self):
        for span in self.tree:
            yield from (span, span)


def test_where_states_are_spared_what_lies_behind_them_goes_first_then_the_rest():
    cache = filled([TEN, OTHER], Wanted(3, 5), Sparing())
    assert foreseen(cache, 4) == [(10, 4, [])]
    assert foreseen(cache, 12) == [(10, 5, []), (10, 11, [5])]  # the rest has a state at its end
    assert foreseen(cache, 99) == [(10, 5, []), (10, 25, [5, 3])]


class Stale(BaseEviction):
    """Names the first entry of all for ever."""

    def __init__(self, kind):
        self.kind, self.first = kind, None

    def on_insert(self, entry):
        if self.first is None and isinstance(entry, self.kind):
            self.first = entry

    def victim(self):
        return self.first


@pytest.mark.parametrize("kind", [Checkpoint, KvSpan])
def test_a_policy_that_names_what_has_gone_is_told_so(kind):
    cache = filled([TEN, OTHER, TEN], Wanted(3, 5), Stale(kind))
    with pytest.raises(UsageError, match="Stale names a victim that is not in the cache"):
        cache.residency.make_room_for(0, 10)


def test_a_policy_that_foresees_one_victim_is_not_taken_for_one_that_has_no_more():
    cache = filled([TEN, OTHER], Wanted(3, 5), Stale(Checkpoint))
    assert len(foreseen(cache, 1)) == 1
    with pytest.raises(UsageError, match="Stale does not tell what goes after"):
        foreseen(cache, 99)


class Asked(BaseAdmission):
    """Notes what would leave, and admits all."""

    def __init__(self):
        self.asked = []

    def admit(self, candidate, size_bytes, departures):
        kind = type(candidate).__name__
        freed_bytes, again = ([d.freed_bytes for d in departures] for _ in range(2))
        assert freed_bytes == again
        self.asked.append((kind, bool(departures), departures.short_bytes, freed_bytes))
        return True


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        # Six bytes of KV and a state are asked for, where ten of KV are.
        (26, [("KvSpan", False, 0, []), ("Checkpoint", False, 0, [])]),
        (22, [("KvSpan", False, 0, []), ("Checkpoint", True, 4, [4])]),
        (12, [("KvSpan", True, 4, [4]), ("Checkpoint", True, 10, [6])]),  # not enough, but asked
        (9, [("KvSpan", True, 6, [6]), ("Checkpoint", True, 10, [])]),  # it can never fit
        (0, [("KvSpan", True, 6, [])]),
    ],
)
def test_admission_is_told_of_what_would_leave(capacity, expected):
    admission, placer = Asked(), Wanted()
    cache = filled([TEN, OTHER], placer, Lru(), admission, capacity_bytes=capacity)
    admission.asked.clear()
    placer.end = True
    serve(cache, 1)
    assert admission.asked == expected
