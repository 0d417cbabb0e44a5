"""LRU, worked by hand."""

from policies.eviction.lru import Lru
from simulator.plugins.entries import Checkpoint, KvSpan

ROOT = KvSpan(None, -1, 0)


def order_of(policy):
    gone = []
    while (victim := policy.victim()) is not None:
        gone.append(victim.position)
        victim.resident = False
        policy.on_evict(victim)
    return gone


def test_the_least_recently_used_goes_first():
    policy = Lru()
    one, two, three, four = (Checkpoint(ROOT, position, 10) for position in (1, 2, 3, 4))
    for entry in (one, two, three, four):
        policy.on_insert(entry)
    policy.on_hit(one)
    policy.on_hit(three)
    policy.on_hit(one)
    assert order_of(policy) == [2, 4, 3, 1]


def test_a_hit_on_a_pinned_entry_counts():
    policy = Lru()
    one, two = (Checkpoint(ROOT, position, 10) for position in (1, 2))
    policy.on_insert(one)
    policy.on_insert(two)
    one.pins = 1
    assert policy.victim() is two
    policy.on_hit(one)
    policy.on_hit(two)
    one.pins = 0
    policy.on_evictable(one)
    assert order_of(policy) == [1, 2]
