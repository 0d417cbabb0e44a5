"""`balanced` against the closed form and the exact solver."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import ceil, comb

import numpy as np
import pytest

from policies.placement.balanced import Balanced
from policies.placement.staircase import solve
from tests.contracts.prefixes import build_prefix, place

CASES = [(n, m) for n in (1, 2, 3, 7, 10, 31, 64, 100) for m in (1, 2, 3, 5, 8, 30, 100)]


def gaps_of(length: int, budget: int) -> list[int]:
    positions = place(Balanced(budget), build_prefix([length]))
    return [b - a for a, b in pairwise([0, *positions, length + 1])]


@pytest.mark.parametrize(("length", "budget"), CASES)
def test_mean_and_worst_recompute_are_the_closed_form(length: int, budget: int) -> None:
    gaps = gaps_of(length, budget)
    k = min(budget, length) + 1
    q, r = divmod(length + 1, k)
    assert len(gaps) == k
    assert max(gaps) - min(gaps) <= 1
    assert sum(comb(gap, 2) for gap in gaps) == r * comb(q + 1, 2) + (k - r) * comb(q, 2)
    assert max(gaps) - 1 == ceil((length + 1) / k) - 1


@pytest.mark.parametrize(("length", "budget"), CASES)
def test_it_is_the_optimum_of_a_uniform_law(length: int, budget: int) -> None:
    plan = solve(np.arange(1, length + 1), np.ones(length), budget)
    recomputed = sum(comb(gap, 2) for gap in gaps_of(length, budget))
    assert length * (length + 1) / 2 - recomputed == pytest.approx(plan.savings_by_budget[-1])


def test_no_other_positions_have_a_smaller_worst_case() -> None:
    worst = min(
        max(b - a for a, b in pairwise([0, *chosen, 11]))
        for chosen in combinations(range(1, 11), 3)
    )
    assert max(gaps_of(10, 3)) == worst


@pytest.mark.parametrize("resume", [0, 1, 2, 3, 5, 6, 9])
def test_the_budget_is_for_the_whole_prefix(resume: int) -> None:
    whole = place(Balanced(3), build_prefix([10]))
    assert whole == [2, 5, 8]
    behind = place(Balanced(3), build_prefix([10], resume=resume))
    assert behind == [position for position in whole if position > resume]
