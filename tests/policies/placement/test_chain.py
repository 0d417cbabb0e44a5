"""The priced chain against brute force."""

from __future__ import annotations

from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.placement.chain import priced_chain
from policies.placement.staircase import solve
from policies.placement.support import expected_saving
from policies.placement.tree_law import tree_law
from policies.placement.tree_priced import priced_tree


def worth(gains: list[int], survival: list[float], price: float, chosen: tuple[int, ...]) -> float:
    """Return what the chosen save, use by use: candidates come from the deepest up."""
    total = -price * len(chosen)
    served = 0.0
    for i, uses in enumerate(survival):
        total += (uses - served) * max((gains[c] for c in chosen if c >= i), default=0)
        served = uses
    return total


@given(
    steps=st.lists(st.integers(1, 30), max_size=6),
    data=st.data(),
    price=st.one_of(st.floats(0.0, 60.0), st.integers(0, 30).map(float)),
)
def test_it_equals_brute_force_and_the_tree(
    steps: list[int], data: st.DataObject, price: float
) -> None:
    gains = list(accumulate(steps))[::-1]
    uses = st.one_of(st.floats(0.01, 3.0), st.sampled_from([1.0, 2.0]))
    survival = list(accumulate(data.draw(uses) for _ in steps))
    sets = [c for size in range(len(gains) + 1) for c in combinations(range(len(gains)), size)]
    best = max(worth(gains, survival, price, chosen) for chosen in sets)
    indices = priced_chain(gains, survival, price)
    assert indices == sorted(set(indices), reverse=True)
    assert worth(gains, survival, price, tuple(indices)) == pytest.approx(best, abs=1e-9)
    law = tree_law(
        np.arange(-1, len(gains) - 1, dtype=np.int32),
        np.array(gains[::-1], np.float64),
        np.diff(survival[::-1], append=0.0) * -1,
    )
    tree = law.saving(priced_tree(law, price)) - price * priced_tree(law, price).sum()
    assert tree == pytest.approx(best, abs=1e-9)


def test_many_candidates_are_the_staircase_at_a_price() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        depths = np.sort(rng.choice(5_000, 100, replace=False)) + 1
        weights = rng.random(100) ** 3
        curve = solve(depths, weights, 100).savings_by_budget
        price = float(rng.random() ** 3 * curve[1])
        survival = weights[::-1].cumsum()
        indices = priced_chain(depths[::-1].tolist(), survival.tolist(), price)
        best = (curve - price * np.arange(101)).max()
        positions = depths[::-1][indices].tolist()
        assert expected_saving(depths, weights, positions) - price * len(indices) == pytest.approx(
            best
        )


def test_by_hand() -> None:
    # 10 serves 1.5 uses: 15 - 8; 20 beside it another (20 - 10) * .5 = 5 < 8.
    assert priced_chain([20, 10], [0.5, 1.5], 8.0) == [1]
    assert priced_chain([20, 10], [0.5, 1.5], 4.0) == [1, 0]
    assert priced_chain([20, 10], [0.5, 0.5], 4.0) == [0]  # nobody leaves between the two
    assert priced_chain([20, 10], [0.5, 1.5], 15.0) == []  # it gains nothing
    assert priced_chain([20], [1.0], float("inf")) == []
    assert priced_chain([], [], 1.0) == []
