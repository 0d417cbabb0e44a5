"""The grid of allowed positions: against all positions that are rounded down to it."""

from __future__ import annotations

import pytest

from simulator.trace.grid import Grid


@pytest.mark.parametrize(("granularity", "alignment"), [(1, 1), (3, 2), (2, 3), (4, 6), (5, 1)])
def test_a_grid_has_the_positions_that_wanted_ones_are_rounded_to(
    granularity: int, alignment: int
) -> None:
    grid = Grid(granularity, alignment)
    allowed = sorted({grid.floor(wanted) for wanted in range(200)})
    for limit in range(100):
        assert grid.deepest(limit) == max(position for position in allowed if position <= limit)
        assert grid.first_after(limit) == min(p for p in allowed if p > limit)
