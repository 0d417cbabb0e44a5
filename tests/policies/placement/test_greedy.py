"""The greedy choice against its definition and its guarantee."""

from __future__ import annotations

from math import e

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.placement.greedy import greedy_positions
from policies.placement.staircase import solve
from policies.placement.support import expected_saving, support_of


def eager(depths: NDArray[np.int64], weights: NDArray[np.float64], budget: int) -> list[int]:
    """Evaluate the whole objective for every candidate, every time."""
    chosen: list[int] = []
    for _ in range(budget):
        options = [int(d) for d in depths if d not in chosen]
        if options:
            chosen = max(
                (sorted([*chosen, d]) for d in options),
                key=lambda positions: expected_saving(depths, weights, positions),
            )
    return chosen


def test_it_saves_what_the_definition_saves_and_keeps_its_guarantee() -> None:
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(300):
        size = int(rng.integers(1, 12))
        depths = np.sort(rng.choice(200, size, replace=False)) + 1
        weights = rng.random(size) ** 3
        limit = int(rng.integers(1, 220))
        budget = int(rng.integers(1, 5))
        seen = np.minimum(depths, limit)
        positions = greedy_positions(support_of(depths, weights), budget, limit)
        saving = expected_saving(seen, weights, positions)
        candidates = np.unique(seen)
        merged = np.array([weights[seen == depth].sum() for depth in candidates])
        assert len(positions) <= budget
        assert saving == pytest.approx(
            expected_saving(seen, weights, eager(candidates, merged, budget))
        )
        best = expected_saving(seen, weights, solve(depths, weights, budget).positions(limit=limit))
        shares.append(saving / best)
    assert min(shares) >= 1 - 1 / e
    assert max(shares) <= 1 + 1e-12
    assert np.mean(shares) > 0.99  # and mostly it is no worse than this


def test_hand_worked() -> None:
    # Alone: 1 saves 1 * 6, 2 saves 2 * 4, 3 saves 3 * 2. Beside 2: 1 adds 1 * 2, 3 adds 1 * 2.
    support = support_of([1, 2, 3], [2, 2, 2])
    assert greedy_positions(support, 1) == [2]
    assert greedy_positions(support, 2) == [1, 2]
    assert greedy_positions(support, 9) == [1, 2, 3]
    assert greedy_positions(support, 0) == []


def test_savings_are_submodular() -> None:
    rng = np.random.default_rng(5)
    depths = np.arange(1, 13)
    for _ in range(300):
        weights = rng.random(12)
        large = set(rng.choice(depths, 6, replace=False).tolist())
        small = set(list(large)[:3])
        x = int(rng.choice(depths))

        def gain(chosen: set[int], weights: NDArray[np.float64] = weights, x: int = x) -> float:
            with_x = expected_saving(depths, weights, sorted(chosen | {x}))
            return with_x - expected_saving(depths, weights, sorted(chosen))

        assert gain(small) >= gain(large) - 1e-12 >= -1e-9
