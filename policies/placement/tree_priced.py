"""Exact placement on a tree at a price per checkpoint, in O(n log n).

Statement
---------
Maximise S(C) - price |C| over all sets C of candidates (S as in tree_law.py; a chain is the tree
of a single prompt).

Let v_i(x) be the best of the subtree at i, i included, when the nearest checkpoint above has the
potential x, and V_i(x) the sum of v_c(x) over the children c of i. Then

    v_i(x) = max( V_i(x),  (g_i - x) W_i - price + V_i(g_i) ),   0 <= x <= g_i.

1. v_i is convex, piecewise linear, and falls with slopes of -W_i at the steepest: by induction V_i
   is a sum of such functions with slopes of at least -(sum of W_c) >= -W_i, and the other branch
   is the line of slope -W_i.
2. So the line is above V_i left of one threshold t_i and below it right of it: *i is chosen
   exactly where the nearest checkpoint above has a potential below t_i*. At x = g_i the line is
   `price` below V_i, hence t_i <= g_i.
3. A function is kept as its two ends and the sorted points where its slope changes. Going up from
   a child, what lies right of g_i is dropped; the line swallows what lies left of t_i. A point is
   made once for each candidate and dropped once, so all work but the merging is O(n).
4. From the root down, the thresholds tell the set.

Where choosing gains exactly nothing it is not chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require
from policies.placement.tree_law import START, TreeLaw


@dataclass(slots=True)
class _Function:
    """A convex, piecewise linear function over [0, right].

    `points` are (x, rise of the slope at x), descending in x; `value` and `slope` come with the
    side they belong to.
    """

    right: float
    value_left: float
    slope_left: float
    value_right: float
    slope_right: float
    points: list[tuple[float, float]]

    def shrink(self, right: float) -> None:
        """Forget what lies beyond `right`."""
        dropped = 0
        for x, rise in self.points:
            if x < right:
                break
            self.value_right -= self.slope_right * (self.right - x)
            self.slope_right -= rise
            self.right = x
            dropped += 1
        del self.points[:dropped]
        self.value_right -= self.slope_right * (self.right - right)
        self.right = right

    def add(self, other: _Function) -> None:
        """Add a function over the same interval."""
        self.value_left += other.value_left
        self.slope_left += other.slope_left
        self.value_right += other.value_right
        self.slope_right += other.slope_right
        if len(self.points) < len(other.points):
            self.points, other.points = other.points, self.points
        if other.points:
            self.points += other.points
            self.points.sort(reverse=True)  # two sorted spans: linear

    def choose(self, weight: float, price: float) -> float:
        """Take the maximum with the line of slope -weight that ends `price` below; return t."""
        lead = self.right * weight - price + self.value_right - self.value_left
        if lead <= 0.0:
            return 0.0
        self.value_left += lead
        x, slope, points = 0.0, self.slope_left, self.points
        while True:
            rate = weight + slope  # at which the line loses its lead
            stop = points[-1][0] if points else self.right
            if lead <= rate * (stop - x) or not points:
                x = min(x + lead / rate, stop) if rate > 0.0 else stop
                break
            lead -= rate * (stop - x)
            x = stop
            slope += points.pop()[1]
        points.append((x, weight + slope))
        self.slope_left = -weight
        return x


def thresholds(law: TreeLaw, price: float) -> list[float]:
    """Return t_i for each candidate; 0 where it is never chosen.

    Parameters
    ----------
    law
        The candidates.
    price
        Of a checkpoint, on the scale of G times weight: 0 or more, infinity included.

    Raises
    ------
    ValueError
        Where the price is negative or NaN.
    """
    require(price >= 0, "price", "0 or more", price)
    size = len(law)
    chosen = [0.0] * size
    if price == inf:
        return chosen
    parent, gains, weights = law.parent.tolist(), law.potentials.tolist(), law.subtree.tolist()
    below: list[_Function | None] = [None] * size
    for i in range(size - 1, -1, -1):
        gain = gains[i]
        value = below[i] or _Function(gain, 0.0, 0.0, 0.0, 0.0, [])
        below[i] = None
        chosen[i] = value.choose(weights[i], price)
        if chosen[i] >= gain:  # only a price of 0, or rounding: the line must not pass the end
            chosen[i] = gain
        above = parent[i]
        if above == START:
            continue
        value.shrink(gains[above])
        present = below[above]
        if present is None:
            below[above] = value
        else:
            present.add(value)
    return chosen


def priced_tree(law: TreeLaw, price: float) -> NDArray[np.bool_]:
    """Return the set, a mask of shape (n,), that maximises S(C) - price |C|.

    Raises
    ------
    ValueError
        Where the price is negative or NaN.
    """
    limits = thresholds(law, price)
    parent, gains = law.parent.tolist(), law.potentials.tolist()
    near = [0.0] * (len(law) + 1)
    chosen = np.zeros(len(law), np.bool_)
    for i, limit in enumerate(limits):
        taken = near[parent[i]] < limit
        near[i] = gains[i] if taken else near[parent[i]]
        chosen[i] = taken
    return chosen
