from __future__ import annotations

from math import comb

import numpy as np
import pytest

from reports.trace.comparison.chance import SPLITS, Chance
from reports.trace.comparison.statistics import (
    kolmogorov,
    points_apart,
    quantile,
    quotient,
    ratio_apart,
    variation,
)


def test_the_p_value_is_the_share_of_splits_that_are_as_far_apart() -> None:
    one, other = np.array([[1.0, 1.0]] * 4), np.array([[0.0, 1.0]] * 4)
    p_value = Chance(0).p_value({"blocks": (one, other)}, points_apart(quotient))
    assert p_value is not None
    exact = 2 / comb(8, 4)  # the truth, and its mirror image
    assert abs(p_value - exact) < 4 * (exact * (1 - exact) / SPLITS) ** 0.5


def test_the_same_in_all_units_is_never_beyond_chance() -> None:
    units = np.array([[3.0, 10.0]] * 6)
    assert Chance(0).p_value({"blocks": (units, units)}, points_apart(quotient)) == 1.0


def test_the_more_cautious_kind_of_unit_counts_and_nothing_tells_nothing() -> None:
    clear = (np.array([[1.0, 1.0]] * 8), np.array([[0.0, 1.0]] * 8))
    none = (np.array([[1.0, 2.0]] * 8), np.array([[1.0, 2.0]] * 8))
    chance = Chance(0)
    assert chance.p_value({"blocks": clear, "sessions": none}, points_apart(quotient)) == 1.0
    assert chance.p_value({}, points_apart(quotient)) is None
    empty = (np.zeros((4, 2)), np.zeros((4, 2)))
    assert chance.p_value({"blocks": empty}, points_apart(quotient)) is None


@pytest.mark.parametrize("seed", range(3))
def test_p_values_of_one_law_are_uniform(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_values = []
    for _ in range(100):
        units = np.stack([rng.gamma(2, size=24), np.ones(24)], axis=1)
        tables = {"blocks": (units[:12], units[12:])}
        p_values.append(Chance(0).p_value(tables, points_apart(quotient)))
    below = sum(p is not None and p <= 0.2 for p in p_values)
    assert abs(below - 20) <= 4 * (100 * 0.2 * 0.8) ** 0.5


def test_statistics_by_hand() -> None:
    one, other = np.array([[2.0, 1.0, 1.0]]), np.array([[0.0, 1.0, 3.0]])
    assert kolmogorov(one, other).tolist() == [0.5]
    points = np.array([10.0, 20.0, 40.0])
    assert ratio_apart(quantile(0.5, points, 0))(one, other)[0] == pytest.approx(np.log(4))
    values = np.array([1.0, 2.0, 6.0])
    sums = np.array([[3.0, values.sum(), (values**2).sum()]])
    assert variation(sums)[0] == pytest.approx(values.std() / values.mean())
