"""Boxes: a summary of the joint distribution of several columns as groups of similar rows.

Rows are split repeatedly, always where a split lowers the variance most, until there are `most`
groups or all are small. A group is summarised by the bounds and the mean of each column. This is a
multidimensional k-anonymous partition (LeFevre et al., "Mondrian multidimensional k-anonymity",
ICDE 2006) with the splits of a regression tree (Breiman et al., "Classification and regression
trees", 1984).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

LEAST_ROWS = 5  # of a box


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Boxes as columns; each box summarises a group of rows.

    Parameters
    ----------
    group
        int64, shape (boxes,): the input group that each box is a part of.
    rows
        int64, shape (boxes,): number of rows in each.
    low, mean, high
        float64, shape (boxes, columns). Bounds are rounded outwards to two digits, so that they
        reveal no single row, unless all rows of the box have the same value.
    """

    group: Int64
    rows: Int64
    low: Float64
    mean: Float64
    high: Float64


def split(groups: list[tuple[Int64, Float64]], most: int) -> Boxes:
    """Split groups of rows into at most `most` boxes, but at least one for each group.

    Parameters
    ----------
    groups
        For each group the values, int64 of shape (rows, columns) with at least `LEAST_ROWS` rows,
        and the same values on the scale used for variances, float64.
    most
        Largest number of boxes.
    """
    waiting: list[tuple[float, int, int, Int64, tuple[Int64, Int64]]] = []
    boxes: list[tuple[int, Int64]] = []
    pushed = 0

    def push(group: int, rows: Int64) -> None:
        nonlocal pushed
        pushed += 1  # breaks ties, and keeps arrays from being compared
        gain, parts = _best_split(groups[group][1][rows])
        if parts is None:
            boxes.append((group, rows))
        else:
            heapq.heappush(waiting, (-gain, pushed, group, rows, parts))

    for group, (values, _) in enumerate(groups):
        push(group, np.arange(len(values)))
    while waiting and len(waiting) + len(boxes) < most:
        _, _, group, rows, parts = heapq.heappop(waiting)
        for part in parts:
            push(group, rows[part])
    boxes += [(group, rows) for _, _, group, rows, _ in waiting]
    boxes.sort(key=lambda box: (box[0], int(box[1][0])))
    return _summary([(group, groups[group][0][rows]) for group, rows in boxes])


def _best_split(scaled: Float64) -> tuple[float, tuple[Int64, Int64] | None]:
    """Return by how much the best split lowers the sum of squares, and the rows of its halves."""
    count = len(scaled)
    if count < 2 * LEAST_ROWS:
        return 0.0, None
    order = np.argsort(scaled, axis=0, kind="stable")
    values = np.take_along_axis(scaled, order, axis=0)
    sums = np.cumsum(values - values.mean(axis=0), axis=0)
    left = np.arange(LEAST_ROWS, count - LEAST_ROWS + 1)
    gain = sums[left - 1] ** 2 * (1 / left + 1 / (count - left))[:, None]
    gain[values[left - 1] == values[left]] = 0.0  # equal values stay together
    at, column = divmod(int(np.argmax(gain)), scaled.shape[1])
    if gain[at, column] <= 1e-9:
        return 0.0, None
    rows = order[:, column]
    return float(gain[at, column]), (np.sort(rows[: left[at]]), np.sort(rows[left[at] :]))


def _summary(boxes: list[tuple[int, Int64]]) -> Boxes:
    low = np.array([values.min(axis=0) for _, values in boxes], dtype=np.float64)
    high = np.array([values.max(axis=0) for _, values in boxes], dtype=np.float64)
    mean = np.array([values.mean(axis=0) for _, values in boxes])
    varied = low < high
    return Boxes(
        group=np.array([group for group, _ in boxes], dtype=np.int64),
        rows=np.array([len(values) for _, values in boxes], dtype=np.int64),
        low=np.where(varied, _two_digits(low, np.floor), low),
        mean=np.clip(_four_digits(mean), low, high),
        high=np.where(varied, _two_digits(high, np.ceil), high),
    )


def _two_digits(values: Float64, rounding: np.ufunc) -> Float64:
    unit = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(values, 1))) - 1, 0)
    rounded: Float64 = rounding(values / unit) * unit
    return rounded


def _four_digits(values: Float64) -> Float64:
    unit = 10.0 ** (np.floor(np.log10(np.maximum(values, 1e-3))) - 3)
    rounded: Float64 = np.rint(values / unit) * unit
    return rounded.round(6)


def draw(boxes: Boxes, picked: Int64, uniform: Float64) -> Int64:
    """Draw a row of values from each picked box, with independent columns.

    A column is `low + (high - low) * u**a` for uniform u, with `a` chosen so as to give its mean.

    Parameters
    ----------
    boxes
        The boxes.
    picked
        Shape (draws,): the box of each draw.
    uniform
        float64 in [0, 1), shape (draws, columns).

    Returns
    -------
    int64, shape (draws, columns).
    """
    width = boxes.high - boxes.low
    above = np.maximum(boxes.mean - boxes.low, 1e-9 * np.maximum(width, 1))
    power = np.maximum(width / above - 1, 0)[picked]
    drawn = boxes.low[picked] + width[picked] * uniform**power
    return np.rint(drawn).astype(np.int64)
