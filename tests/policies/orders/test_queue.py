"""Queues with blocked entries agree with a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.ghosts import Ghosts
from policies.orders.queue import ByteQueue
from simulator.plugins.entries import Checkpoint, KvSpan

ROOT = KvSpan(None, -1, 0)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["push", "touch", "discard", "block", "free", "head"]), st.integers(0, 5)
    ),
    max_size=60,
)


@given(STEPS)
def test_the_head_is_the_first_evictable_entry(steps):
    entries = [Checkpoint(ROOT, position, position + 1) for position in range(6)]
    queue, plain = ByteQueue(), []
    for step, index in steps:
        entry = entries[index]
        if step == "push" and entry not in plain:
            queue.push(entry)
            plain.append(entry)
        elif step == "touch" and entry in plain:
            queue.touch(entry)
            plain.remove(entry)
            plain.append(entry)
        elif step == "discard":
            assert queue.discard(entry) == (entry in plain)
            if entry in plain:
                plain.remove(entry)
        elif step == "block":
            entry.pins = 1
        elif step == "free":
            entry.pins = 0
            queue.on_evictable(entry)
        assert queue.head() is next((kept for kept in plain if kept.evictable), None)
        assert queue.head() is queue.head()
        assert len(queue) == len(plain)
        assert queue.bytes == sum(kept.size_bytes for kept in plain)
        assert all(kept in queue for kept in plain)


def test_an_entry_that_has_grown_is_charged_anew_when_it_moves():
    queue = ByteQueue()
    span = KvSpan(ROOT, 0, 9)
    span.kv_end, span.size_bytes = 5, 50
    queue.push(span)
    span.size_bytes = 70
    assert queue.bytes == 50
    queue.touch(span)
    assert queue.bytes == 70
    queue.discard(span)
    assert queue.bytes == 0


def test_ghosts_forget_the_oldest_beyond_their_bytes():
    ghosts = Ghosts(10)
    ghosts.add("a", 4)
    ghosts.add("b", 6)
    ghosts.add("a", 4)  # keeps its place
    ghosts.add("c", 3)
    ghosts.add("d", 11)
    assert ["a" in ghosts, "b" in ghosts, "c" in ghosts, "d" in ghosts] == [
        False,
        True,
        True,
        False,
    ]
    assert ghosts.take("b")
    assert not ghosts.take("b")
    assert (ghosts.bytes, len(ghosts)) == (3, 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["push", "touch", "split", "evict", "trim", "pin", "free", "head"]),
            st.integers(0, 9),
        ),
        max_size=60,
    )
)
def test_both_parts_of_a_split_span_stand_where_it_stood(steps):
    """Against a plain list, in which the upper part comes right behind the lower one."""
    queue, plain = ByteQueue(), []

    def leave(span):
        span.kv_end, span.size_bytes = span.start, 0
        plain.remove(span)
        queue.discard(span)
        span.parent.children_resident -= 1
        if span.parent in plain and span.parent.evictable:
            queue.on_evictable(span.parent)

    for step, index in steps:
        span = plain[index % len(plain)] if plain else None
        if step == "push":
            span = KvSpan(KvSpan(None, -1, 0), 0, 16)
            span.kv_end = span.size_bytes = 16
            queue.push(span)
            plain.append(span)
        elif span is None:
            continue
        elif step == "touch":  # the whole path is used, from the deepest span upwards
            while span in plain:
                queue.touch(span)
                plain.append(plain.pop(plain.index(span)))
                span = span.parent
        elif step == "split" and span.stop - span.start > 1:
            upper = span.cut((span.start + span.stop) // 2, 0)
            queue.split(upper, span)
            plain.insert(plain.index(span) + 1, upper)
            if not span.resident:
                plain.remove(span)
        elif step == "trim" and span.evictable and span.kv_end - span.start > 1:
            span.kv_end -= 1
            span.size_bytes -= 1
            queue.touch(span)
            plain.append(plain.pop(plain.index(span)))
        elif step in {"pin", "free"}:
            span.pins = int(step == "pin")
            if span.evictable:
                queue.on_evictable(span)
        elif step == "evict" and span.evictable:
            leave(span)
        assert queue.head() is next((kept for kept in plain if kept.evictable), None)
        assert len(queue) == len(plain)
        assert queue.bytes == sum(kept.size_bytes for kept in plain)
