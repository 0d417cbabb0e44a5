"""`thinned` by hand, and against its own definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policies.placement.staircase import solve
from policies.placement.support import expected_saving, support_of
from policies.placement.thinned import thinned_positions


def test_by_hand() -> None:
    # T = 1, .4, .1. Dropping 4 loses 4 * .6, 7 loses 3 * .3, 10 loses 3 * .1.
    support = support_of([4, 7, 10], [0.6, 0.3, 0.1])
    assert thinned_positions(support, 3) == [4, 7, 10]
    assert thinned_positions(support, 2) == [4, 7]
    assert thinned_positions(support, 1) == [4]
    assert thinned_positions(support, 0) == []
    assert thinned_positions(support, 3, limit=8) == [4, 7, 8]


@given(
    law=st.dictionaries(st.integers(1, 60), st.integers(1, 9), min_size=1, max_size=12),
    budget=st.integers(1, 12),
)
def test_each_step_drops_what_loses_least(law: dict[int, int], budget: int) -> None:
    depths = np.array(sorted(law))
    weights = np.array([law[depth] for depth in sorted(law)], float)
    support = support_of(depths, weights)
    kept = thinned_positions(support, budget)
    assert len(kept) == min(budget, len(support))
    optimum = float(solve(depths, weights, budget).savings_by_budget[-1])
    assert expected_saving(depths, weights, kept) <= optimum * (1 + 1e-12)
    if len(kept) < len(support):
        before = thinned_positions(support, budget + 1)
        best = max(
            expected_saving(depths, weights, [p for p in before if p != gone]) for gone in before
        )
        assert expected_saving(depths, weights, kept) == best
