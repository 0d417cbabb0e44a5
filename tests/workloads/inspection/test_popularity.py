from __future__ import annotations

import numpy as np
import pytest

from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from tests.workloads.inspection.small_traces import trace_of
from workloads.inspection.popularity import _power_sums, popularity


def star(uses: list[int], tokens: int) -> Trace:
    """Prompts that share nothing but themselves: prompt `i` comes `uses[i]` times."""
    count = len(uses)
    tree = PrefixTree(
        np.concatenate([[-1], np.zeros(count)]).astype(np.int32),
        np.zeros(count + 1, dtype=np.int64),
        np.concatenate([[0], np.full(count, tokens)]),
    )
    leaf = np.repeat(np.arange(1, count + 1), uses).astype(np.int32)
    none = np.full(len(leaf), -1, dtype=np.int32)
    return Trace("star", tree, leaf, None, np.zeros(len(leaf), dtype=np.int64), none, none)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.4])
def test_zipf_finds_the_exponent_of_its_own_law(exponent):
    # a Zipf law cut where its uses fall below two: every block counts
    ranks = np.arange(1, 2001)
    expected = 40_000 * ranks**-exponent / (ranks**-exponent).sum()
    uses = np.rint(expected[expected >= 2]).astype(int)
    zipf = popularity(star(uses.tolist(), 16)).zipf
    assert zipf.blocks == len(uses)
    assert zipf.exponent == pytest.approx(exponent, abs=0.02)
    assert zipf.largest_error < 0.01
    assert zipf.first_uses == pytest.approx(uses[0], rel=0.05)


def test_even_use_has_exponent_zero():
    figures = popularity(star([5] * 50, 16))
    assert figures.zipf.exponent == pytest.approx(0, abs=1e-4)
    assert figures.top_shares == pytest.approx({"0.1%": 0.001, "1.0%": 0.01, "10.0%": 0.1})
    assert figures.used_again_share == 1.0


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 2.3])
def test_power_sums_are_sums(exponent):
    ends = np.array([1, 5, 4096, 4097, 50_000])
    terms = np.arange(1, 50_001, dtype=float) ** -exponent
    assert _power_sums(exponent, ends) == pytest.approx(np.cumsum(terms)[ends - 1], rel=1e-9)


def test_shares_of_a_hand_worked_trace():
    # 10 tokens in all three prompts, 5 in two of them, 25 in one each
    shared, other = [1] * 10, [2] * 5
    trace = trace_of([shared + other + [3] * 10, shared + other + [4] * 5, shared + [5] * 10])
    figures = popularity(trace)
    assert figures.distinct_tokens == 40
    assert figures.used_again_share == 15 / 40
    assert figures.top_shares["10.0%"] == pytest.approx(4 * 3 / 65)
    assert figures.zipf is None  # too few blocks


def test_answers_are_no_prompts():
    trace = trace_of([[1, 2], [1, 3]], [[7] * 30, []])
    assert popularity(trace).distinct_tokens == 3
