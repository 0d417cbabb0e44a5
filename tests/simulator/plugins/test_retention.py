"""The default choice of states under a cap, worked by hand."""

from __future__ import annotations

import pytest

from simulator.plugins.retention import evenly_retained


@pytest.mark.parametrize(
    ("states", "wanted", "most", "length", "kept"),
    [
        ([10, 50, 55], [90], 3, 100, [10, 50, 90]),  # 55 x 35 - 5 is the least product
        ([10, 50], [60, 90], 2, 100, [60, 90]),  # what is wanted stays
        ([], [10, 20, 90], 2, 100, [20, 90]),  # 10 x 10 < 10 x 70 and 70 x 11
        ([40], [20, 30, 80], 2, 100, [30, 80]),  # the old one first
        ([10], [20], 0, 30, []),
        ([10], [20], 2, 30, [10, 20]),
    ],
)
def test_by_hand(states, wanted, most, length, kept):
    assert evenly_retained(states, wanted, most, length) == kept
