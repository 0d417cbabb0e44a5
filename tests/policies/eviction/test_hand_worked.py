"""Each classic policy on a stream that was worked by hand; the comments follow the cache."""

from __future__ import annotations

from functools import partial

import pytest

from policies.admission import ADMISSION
from policies.eviction import EVICTION
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.entries import KvSpan
from simulator.simulation import Scenario, simulate
from tests.policies.eviction.flat import hits
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of


def test_clock_lets_a_hit_entry_go_round_once():
    # ABC; A hit. D: A goes behind C, B leaves: CAD. E: C leaves: ADE. F: A leaves. A misses.
    assert hits("clock", "ABC A DEF A", 3) == "00010000"


def test_clock_with_two_bits_counts_to_three():
    # A stands at 3: C takes B, D takes C, E takes D while A goes round; with one bit A is gone.
    assert hits("clock:bits=2", "AB AAA CDE A", 2) == "001110001"
    assert hits("clock:bits=1", "AB AAA CDE A", 2) == "001110000"


def test_sieve_leaves_survivors_in_place_and_the_hand_goes_on():
    # ABC; A hit. D: the hand clears A and takes B: ACD, hand at C. E takes C, F takes D: AEF.
    assert hits("sieve", "ABC A DEF A", 3) == "00010001"


def test_sieve_starts_over_behind_the_newest():
    # AB both hit. C: A, B are cleared, then A leaves: BC, hand at B. D takes B: CD, hand at C.
    assert hits("sieve", "AB AB C B D C", 2) == "00110100"


def test_lfu_breaks_ties_by_last_use():
    # A has two uses, B one: C takes B; D takes C; A stays. Among equals the older goes.
    assert hits("lfu", "AAB C A B A", 2) == "0100101"
    assert hits("lfu", "ABC B A", 2) == "00010"


def test_slru_protects_what_was_hit():
    # A, B protected (2); C, D on probation. E takes C. D is lifted and A lowered: E, A on
    # probation. F takes E. A is hit, E is gone.
    assert hits("slru:protected=0.5", "ABAB CDE D F A E", 4) == "00110001010"


def test_slru_of_the_reference_fills_upper_segments_first():
    # Four segments of 1: A, B, C, D fill them upwards, so E takes A, the only one in the lowest.
    assert hits("slru:rules=libcachesim", "ABCD E B C D A", 4) == "000001110"
    assert hits("slru:rules=libcachesim", "A A", 7, A=2) == "00"  # larger than a segment


def test_two_q_keeps_what_returns():
    # A1in ABCD. E: A leaves and is remembered. A returns, B leaves: A1in CDE, Am A. F: C leaves.
    # A hit. B returns, D leaves: A1in EF, Am AB. E hit.
    assert hits("two_q", "ABCD E A F A B E", 4) == "0000000101"


def test_arc_adapts_to_ghosts():
    # A used twice: T2 A, T1 B. C takes B (B1). B returns: target 1, A leaves (B2): T1 C, T2 B.
    # A returns: target 0, C leaves: T2 BA. B hit; C misses.
    assert hits("arc", "AB A C B A B C", 2) == "00100010"


def test_lirs_keeps_what_was_used_twice_within_a_short_distance():
    # LIR AB, HIR C. D takes C, which stays in S. C returns, D leaves: LIR BC, HIR A. A hit.
    # D returns, A leaves: LIR CD, HIR B. B hit, A misses.
    assert hits("lirs:hir=0.33", "ABC D C A D B A", 3) == "000001010"


def test_s3fifo_filters_what_is_used_once():
    # Small ABCD, A used twice more. E: A to main, B leaves. A hit. B returns, C leaves: main AB.
    # A hit; C returns, D leaves: main ABC, small E. D returns, E leaves: main ABCD.
    # F: A goes round, B leaves. A hit, B misses.
    policy = "s3fifo:small=0.25,memory=0.75"
    assert hits(policy, "ABCD AA E B A C D F A B", 4) == "00001100100010"


def test_s3fifo_of_the_reference_fills_the_main_queue_first():
    # Small 2 of 4: A, B. C and D enter main while it fills; E takes A.
    policy = "s3fifo:small=0.5,memory=0.5,rules=libcachesim"
    assert hits(policy, "ABCD E C D B A", 4) == "000001110"
    assert hits(policy, "A A", 4, A=2) == "00"


def test_wtinylfu_admits_by_frequency():
    # Window 1, main 3: A, B, G, used twice, come to main. C is used once and leaves for D.
    # A, B, G are used once more, which lowers A to probation. E, used four times in the window,
    # takes the place of A, used three times, when F comes.
    policy = "wtinylfu:window=0.25"
    requests = "AABBGG C D ABG EEEE F E A"
    assert hits(policy, requests, 4) == "010101001110111010"


def test_gdsf_weighs_uses_by_size():
    # A (8) and B (2); C (4) enters and A, least per byte, leaves. A returns and ties with C, which
    # was used longer ago and leaves. B, small, stays throughout.
    assert hits("gdsf", "AB C A B", 10, A=8, B=2, C=4) == "00001"


def test_gdsf_may_evict_the_newcomer():
    assert hits("gdsf", "B D B D", 10, B=2, D=9) == "0010"


def test_belady_evicts_what_is_used_last():
    # C takes B (used after A); then B takes C, which is used no more.
    assert hits("belady", "AB C A B A", 2) == "000101"


@pytest.mark.parametrize(
    "spec", ["lirs:rules=libcachesim", "slru:rules=libcachesim", "two_q:rules=libcachesim"]
)
def test_rules_that_evict_by_themselves_are_for_flat_objects_only(spec):
    policies = Wanted, partial(create, "eviction", spec), ADMISSION["always"]
    scenario = Scenario(toy_profile(), *policies, capacity_bytes=9)
    with pytest.raises(UsageError, match="`milepost objects` only"):
        simulate(trace_of([(1, 2)], [0.0]), scenario)


def test_an_entry_that_comes_back_keeps_nothing_of_its_old_rank():
    policy = EVICTION["lfu"]()
    root = KvSpan(None, -1, 0)
    spans = [KvSpan(root, 0, 4, node) for node in (1, 2, 3)]
    for span, uses in zip(spans, (5, 7, 1), strict=True):
        span.kv_end = 4
        policy.on_insert(span)
        for _ in range(uses):
            policy.on_hit(span)
    first = spans[0]
    first.kv_end = 0
    policy.on_evict(first)
    first.kv_end = 4
    policy.on_insert(first)  # used once, less than all others
    assert policy.victim() is first
