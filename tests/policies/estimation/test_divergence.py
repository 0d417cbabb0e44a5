"""The sharpest coordinate is found, and its best position is the staircase of one step."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.estimation.divergence import PRIOR_TOKENS, DivergenceLaw


def test_before_anything_was_seen_it_guesses() -> None:
    assert DivergenceLaw().best(0, 4000) == (4000 - PRIOR_TOKENS, 1.0)
    assert DivergenceLaw().best(0, PRIOR_TOKENS) == (0, 0.0)


@pytest.mark.parametrize("sharp", ["end", "branch", "start"])
def test_the_sharpest_coordinate_is_chosen(sharp: str) -> None:
    rng = random.Random(0)
    law = DivergenceLaw()
    for _ in range(200):
        start = rng.randrange(0, 3000)
        stop = start + rng.randrange(8000, 16000)
        depth = {"end": stop - rng.randrange(400, 500), "branch": start + 5000, "start": 7000}
        law.observe(start, stop, depth[sharp])
    assert law.coordinate == sharp
    position, share = law.best(1000, 12_000)
    expected = {"end": 12_000 - 500, "branch": 6000, "start": 7000}[sharp]
    assert position == pytest.approx(expected, abs=10)
    assert share > 0.9


@given(
    distances=st.lists(st.integers(1, 900), min_size=1, max_size=40),
    start=st.integers(0, 500),
    length=st.integers(300, 2000),
)
def test_from_the_end_it_is_the_best_single_position(
    distances: list[int], start: int, length: int
) -> None:
    law = DivergenceLaw()
    for distance in distances:
        law.observe(0, 1000, 1000 - distance)
    position, share = law.best(start, start + length)
    if law.coordinate != "end" or len(distances) >= 32:
        return
    pool = [*distances, PRIOR_TOKENS]
    gains = [(length - delta) * sum(other <= delta for other in pool) / len(pool) for delta in pool]
    gained = (position - start) * share if position else 0.0
    assert gained == pytest.approx(max(0.0, *gains))
