"""Queues with blocked entries agree with a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.ghosts import Ghosts
from policies.orders.queue import ByteQueue
from simulator.plugins.entries import Checkpoint, KvRun

ROOT = KvRun(None, -1, 0)
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
    run = KvRun(ROOT, 0, 9)
    run.kv_end, run.size_bytes = 5, 50
    queue.push(run)
    run.size_bytes = 70
    assert queue.bytes == 50
    queue.touch(run)
    assert queue.bytes == 70
    queue.discard(run)
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
def test_both_parts_of_a_split_run_stand_where_it_stood(steps):
    """Against a plain list, in which the upper part comes right behind the lower one."""
    queue, plain = ByteQueue(), []

    def leave(run):
        run.kv_end, run.size_bytes = run.start, 0
        plain.remove(run)
        queue.discard(run)
        run.parent.children_resident -= 1
        if run.parent in plain and run.parent.evictable:
            queue.on_evictable(run.parent)

    for step, index in steps:
        run = plain[index % len(plain)] if plain else None
        if step == "push":
            run = KvRun(KvRun(None, -1, 0), 0, 16)
            run.kv_end = run.size_bytes = 16
            queue.push(run)
            plain.append(run)
        elif run is None:
            continue
        elif step == "touch":  # the whole path is used, from the deepest run upwards
            while run in plain:
                queue.touch(run)
                plain.append(plain.pop(plain.index(run)))
                run = run.parent
        elif step == "split" and run.stop - run.start > 1:
            upper = run.cut((run.start + run.stop) // 2, 0)
            queue.split(upper, run)
            plain.insert(plain.index(run) + 1, upper)
            if not run.resident:
                plain.remove(run)
        elif step == "trim" and run.evictable and run.kv_end - run.start > 1:
            run.kv_end -= 1
            run.size_bytes -= 1
            queue.touch(run)
            plain.append(plain.pop(plain.index(run)))
        elif step in {"pin", "free"}:
            run.pins = int(step == "pin")
            if run.evictable:
                queue.on_evictable(run)
        elif step == "evict" and run.evictable:
            leave(run)
        assert queue.head() is next((kept for kept in plain if kept.evictable), None)
        assert len(queue) == len(plain)
        assert queue.bytes == sum(kept.size_bytes for kept in plain)
