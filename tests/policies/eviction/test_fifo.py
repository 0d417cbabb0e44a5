"""FIFO, worked by hand."""

from policies.eviction.fifo import Fifo
from simulator.plugins.entries import Checkpoint, KvSpan

ROOT = KvSpan(None, -1, 0)


def test_hits_change_nothing():
    policy = Fifo()
    entries = [Checkpoint(ROOT, position, 10) for position in (1, 2, 3)]
    for entry in entries:
        policy.on_insert(entry)
    policy.on_hit(entries[0])
    gone = []
    while (victim := policy.victim()) is not None:
        gone.append(victim.position)
        victim.resident = False
        policy.on_evict(victim)
    assert gone == [1, 2, 3]


def test_an_inner_span_keeps_its_place_until_nothing_lies_below_it():
    policy = Fifo()
    inner = KvSpan(ROOT, 0, 4)
    leaf = KvSpan(inner, 4, 6)
    late = KvSpan(ROOT, 0, 3)
    inner.kv_end, inner.children_resident = 4, 1
    leaf.kv_end, late.kv_end = 6, 3
    for span in (inner, leaf, late):
        policy.on_insert(span)
    assert policy.victim() is leaf
    leaf.kv_end, inner.children_resident = 4, 0
    policy.on_evict(leaf)
    policy.on_evictable(inner)
    assert policy.victim() is inner
