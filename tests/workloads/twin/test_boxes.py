from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.twin.boxes import LEAST_ROWS, Boxes, draw, split

ROWS = st.lists(
    st.tuples(st.integers(0, 100_000), st.integers(0, 3)), min_size=LEAST_ROWS, max_size=120
)


def boxes_of(rows: list[tuple[int, int]], most: int) -> Boxes:
    values = np.array(rows, dtype=np.int64)
    return split([(values, np.log2(values + 1.0))], most)


@given(ROWS, st.integers(1, 20))
def test_no_box_is_small_and_each_row_lies_in_one(rows, most):
    boxes = boxes_of(rows, most)
    assert len(boxes.rows) <= most
    assert boxes.rows.min() >= LEAST_ROWS
    assert boxes.rows.sum() == len(rows)
    assert (boxes.low <= boxes.mean).all()
    assert (boxes.mean <= boxes.high).all()
    values = np.array(rows)
    inside = (boxes.low <= values[:, None]) & (values[:, None] <= boxes.high)
    assert inside.all(axis=2).any(axis=1).all()


@given(ROWS)
def test_a_bound_is_exact_only_where_all_rows_of_the_box_lie_at_it(rows):
    boxes = boxes_of(rows, 4)
    varied = boxes.low < boxes.high
    for bound in (boxes.low[varied], boxes.high[varied]):
        digits = [f"{value:.0f}".rstrip("0") for value in bound]
        assert all(len(shown) <= 2 for shown in digits)


def test_splits_fall_between_clusters():
    rows = [(10, 0)] * 30 + [(1000, 1)] * 6
    boxes = boxes_of(rows, 2)
    assert boxes.low[:, 0].tolist() == [10, 1000]
    assert boxes.rows.tolist() == [30, 6]
    assert (boxes.low == boxes.high).all()


@pytest.mark.parametrize("mean", [0.0, 3.0, 50.0, 97.0, 100.0])
def test_drawn_values_lie_in_the_box_and_have_its_mean(mean):
    one = np.array([1], dtype=np.int64)
    boxes = Boxes(one - 1, one, np.array([[0.0]]), np.array([[mean]]), np.array([[100.0]]))
    uniform = (np.arange(20_000)[:, None] + 0.5) / 20_000
    drawn = draw(boxes, np.zeros(20_000, dtype=np.int64), uniform)
    assert drawn.min() >= 0
    assert drawn.max() <= 100
    assert drawn.mean() == pytest.approx(mean, abs=0.6)
