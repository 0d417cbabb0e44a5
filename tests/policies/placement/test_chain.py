"""The priced chain against brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.placement.chain import priced_chain


def worth(
    base: int, positions: list[int], uses: list[float], price: float, chosen: tuple[int, ...]
) -> float:
    total = -price * len(chosen)
    for i, expected in enumerate(uses):
        reached = [positions[c] - base for c in chosen if c <= i]
        total += expected * max(reached, default=0)
    return total


@given(
    base=st.integers(0, 20),
    steps=st.lists(st.integers(1, 30), max_size=6),
    data=st.data(),
    price=st.floats(0.0, 50.0),
)
def test_it_equals_brute_force(
    base: int, steps: list[int], data: st.DataObject, price: float
) -> None:
    positions = [base + sum(steps[: i + 1]) for i in range(len(steps))]
    uses = [data.draw(st.floats(0.0, 3.0)) for _ in steps]
    best = max(
        worth(base, positions, uses, price, subset)
        for size in range(len(positions) + 1)
        for subset in combinations(range(len(positions)), size)
    )
    chosen = priced_chain(base, positions, uses, price)
    assert chosen == sorted(set(chosen))
    assert worth(base, positions, uses, price, tuple(chosen)) == pytest.approx(best, abs=1e-9)


def test_by_hand() -> None:
    # 10 serves 1.5 uses: 15 - 8; 20 beside it another (20 - 10) * .5 = 5 < 8.
    assert priced_chain(0, [10, 20], [1.0, 0.5], 8.0) == [0]
    assert priced_chain(0, [10, 20], [1.0, 0.5], 4.0) == [0, 1]
    assert priced_chain(0, [10, 20], [0.0, 0.5], 4.0) == [1]
    assert priced_chain(0, [10, 20], [1.0, 0.5], 15.0) == []
    assert priced_chain(5, [], [], 1.0) == []
