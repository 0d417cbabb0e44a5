"""Looking ahead without changing anything."""

from __future__ import annotations

from heapq import heapify

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.heaps import in_order
from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import ByteQueueView
from tests.policies.eviction.hand import root, span_below, state_in


@given(st.lists(st.integers(-5, 20), max_size=40))
def test_a_heap_is_read_in_order_and_stays_as_it_is(items):
    heapify(items)
    before = items[:]
    assert list(in_order(items)) == sorted(items)
    assert items == before


def test_a_span_goes_with_its_states_and_frees_the_span_above():
    upper = span_below(root(), 10)
    first, second = (span_below(upper, stop) for stop in (15, 20))
    state = state_in(first, 12)
    outlook = Outlook()
    assert [*map(outlook.evictable, (upper, first, second, state))] == [False, True, True, True]
    assert outlook.leaving(first) == [state, first]
    assert outlook.let_go(first) is None
    assert [*map(outlook.evictable, (upper, first, second, state))] == [False, False, True, False]
    assert (outlook.states_of(first), outlook.children_of(upper)) == ([], 1)
    assert outlook.let_go(second) is upper
    assert outlook.evictable(upper)
    assert upper.children_resident == 2


def test_a_pinned_span_is_not_freed():
    upper = span_below(root(), 10)
    lower = span_below(upper, 15)
    upper.pins = 1
    outlook = Outlook()
    assert outlook.let_go(lower) is None
    assert not outlook.evictable(upper)


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["push", "discard", "touch", "head", "first"]), st.integers(0, 7))
)


@given(before=OPERATIONS, after=OPERATIONS, pinned=st.sets(st.integers(0, 7)))
def test_a_view_does_what_its_queue_would_do(before, after, pinned):
    """Its queue stays as it is meanwhile, and does the same when it is told to."""
    queue = ByteQueue()
    spans = [span_below(root(), stop) for stop in range(1, 9)]
    for number in pinned:
        spans[number].pins = 1

    def apply(target, name, span):
        if name in {"head", "first"}:
            return getattr(target, name)()
        if name == "push" and span in target:
            return None
        return getattr(target, name)(span)

    for name, number in before:
        apply(queue, name, spans[number])
    for number in pinned:  # half of what may have been set aside comes back
        if number % 2:
            spans[number].pins = 0
            queue.on_evictable(spans[number])
    view = ByteQueueView(queue, Outlook())
    foreseen = [(apply(view, name, spans[n]), len(view), view.bytes) for name, n in after]
    done = [(apply(queue, name, spans[n]), len(queue), queue.bytes) for name, n in after]
    assert foreseen == done
