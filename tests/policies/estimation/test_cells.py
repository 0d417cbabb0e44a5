"""Depths in cells, and their probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from policies.estimation.cells import RANGE, SPREAD, WIDTH, cells, log_score, near


def test_a_depth_one_percent_deeper_is_in_the_next_cell() -> None:
    depths = np.array([1.0, 100.0, 101.1, 102.1])
    assert np.diff(cells(np.log(depths))).tolist() == [460, 1, 1]


def test_neighbours_share_half_of_a_cell_by_hand() -> None:
    weights = np.array([[0.0, 8.0, 0.0, 0.0, 4.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    assert near(weights, np.array([1, 2, 3])).tolist() == [[4, 2, 1], [1, 1, 1]]


def test_the_score_is_a_log_likelihood_that_allows_for_the_unforeseen() -> None:
    shares = np.array([[0.5, 0.25], [0.0, 0.0]])
    even = SPREAD * WIDTH / RANGE
    expected = [np.log(0.45 + even) + np.log(0.225 + even), 2 * np.log(even)]
    assert log_score(shares) == pytest.approx(expected)
