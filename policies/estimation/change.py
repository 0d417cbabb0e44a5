"""A permutation test of whether a law has changed."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require, require_at_least


def distance(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the Kolmogorov distance of two samples: the largest difference of their CDFs."""
    signs, ends = _pooled(one, other)
    return float(np.abs(signs.cumsum()[ends]).max(initial=0.0))


def p_value(
    one: NDArray[np.int64], other: NDArray[np.int64], permutations: int = 199, seed: int = 0
) -> float:
    """Return the p-value of the hypothesis that two samples are of one law.

    Under the null hypothesis that both samples are of one law, every split of the pooled sample
    is equally likely. With B random splits of which b are at least as far apart as the true one,
    (b + 1) / (B + 1) is an exact p-value, however large the support is. (The total variation of
    two samples is near 1 on a large support without any drift, and says nothing by itself.)

    Parameters
    ----------
    one, other
        Depths, shapes (n,) and (m,), not empty.
    permutations
        Splits to draw, 1 or more.
    seed
        Seed of the splits.
    """
    signs, ends = _pooled(one, other)
    rng = np.random.Generator(np.random.PCG64(seed))
    splits = rng.permuted(np.tile(signs, (permutations, 1)), axis=1)
    observed = np.abs(signs.cumsum()[ends]).max()
    drawn = np.abs(splits.cumsum(axis=1)[:, ends]).max(axis=1)
    # Sums in another order differ in the last bits: equal distances must count as equal.
    return float((1 + np.count_nonzero(drawn >= observed - 1e-9)) / (permutations + 1))


class ChangeDetector:
    """Compares the last requests with those that the current plan was made from.

    Parameters
    ----------
    window
        Requests in each of the two samples, 2 or more.
    significance
        A law counts as changed where the p-value is at most this; so without drift about this
        share of the tests raises a false alarm.
    permutations
        Splits drawn for each test.
    """

    def __init__(
        self, window: int = 100, significance: float = 0.01, permutations: int = 199
    ) -> None:
        require_at_least("window", window, 2)
        require(0 < significance < 1, "significance", "above 0 and below 1", significance)
        require_at_least("permutations", permutations, 1)
        self._recent: deque[int] = deque(maxlen=window)
        self._reference = np.empty(0, np.int64)
        self._since = 0
        self._significance = significance
        self._permutations = permutations

    def observe(self, depth: int) -> None:
        """Take one more depth; 0 is a miss."""
        self._recent.append(depth)
        self._since += 1

    def moved(self) -> bool:
        """Say whether the law has changed since `settle`.

        True while the reference is not yet a whole window, since a new plan would rest on more
        requests. The samples must not share requests, or they would seem alike: so only requests
        since `settle` are compared, and with fewer than two of them the answer is no.
        """
        if len(self._reference) < (self._recent.maxlen or 0):
            return True
        fresh = np.array(self._recent, np.int64)[-self._since :]
        if self._since == 0 or len(fresh) < 2:
            return False
        chance = p_value(self._reference, fresh, self._permutations, seed=self._since)
        return chance <= self._significance

    def settle(self) -> None:
        """Take the last requests as the reference: a plan has been made from them."""
        self._reference = np.array(self._recent, np.int64)
        self._since = 0


def _pooled(
    one: NDArray[np.int64], other: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the steps of the difference of the CDFs in order of depth, and where ties end."""
    values = np.concatenate((one, other))
    signs = np.concatenate((np.full(len(one), 1 / len(one)), np.full(len(other), -1 / len(other))))
    order = values.argsort(kind="stable")
    values = values[order]
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    return signs[order], ends
