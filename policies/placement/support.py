"""The support of a law of overlaps, reduced to the candidates for checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Potential = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def tokens(depths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the potential G(x) = x, which counts tokens."""
    return depths.astype(np.float64)


def floored_tokens(step: int, phase: int = 0) -> Potential:
    """Return the potential of positions that are floored to multiples of `step` afterwards.

    With it the solvers place checkpoints in different steps, and count what they will save.
    Where depths are counted from a position, `phase` is its rest modulo `step`.
    """
    if step == 1:
        return tokens
    return lambda depths: (depths + phase - (depths + phase) % step).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Candidates for checkpoints, each with its survival and its potential.

    Parameters
    ----------
    depths
        int64, ascending: depths that have weight and a larger potential than the one before.
    survival
        float64: T(x) = weight of overlaps of depth x or more; descending, positive.
    potentials
        float64: G(x) - G(0); strictly ascending, positive.
    potential
        G itself.
    """

    depths: NDArray[np.int64]
    survival: NDArray[np.float64]
    potentials: NDArray[np.float64]
    potential: Potential

    def __len__(self) -> int:
        return len(self.depths)

    def end(self, limit: int) -> tuple[int, float, float]:
        """Describe the end of a prompt of `limit` tokens.

        Returns
        -------
        below
            The number of depths below `limit`.
        survival
            T(limit) = P(d >= limit): all deeper overlaps count as the whole prompt.
        potential
            G(limit) - G(0); 0 where nothing is that deep, since a checkpoint is worth nothing.
        """
        below = int(self.depths.searchsorted(limit))
        if below == len(self.depths):
            return below, 0.0, 0.0
        if self.depths[below] == limit:
            return below, float(self.survival[below]), float(self.potentials[below])
        pair = self.potential(np.array([0, limit]))
        return below, float(self.survival[below]), float(pair[1] - pair[0])

    def truncated(self, limit: int) -> Support:
        """Return the support of min(d, limit)."""
        below, survival, potential = self.end(limit)
        if below == len(self):
            return self
        return Support(
            np.concatenate((self.depths[:below], [limit])),
            np.concatenate((self.survival[:below], [survival])),
            np.concatenate((self.potentials[:below], [potential])),
            self.potential,
        )


def support_of(
    depths: ArrayLike, weights: ArrayLike, potential: Potential | None = None
) -> Support:
    """Return the support of a law, less the depths that no optimal plan needs.

    A depth without weight is dominated by the next one (T is the same, G no less). A depth with
    the potential of the one before is dominated by that one (G is the same, T no less); its
    weight stays in T.

    Parameters
    ----------
    depths
        Integers, shape (S,), ascending, unique, at least 1.
    weights
        Shape (S,), finite, non-negative, of any scale.
    potential
        A non-decreasing G; tokens where None.

    Raises
    ------
    ValueError
        Where one of these does not hold.
    """
    depth = np.asarray(depths)
    weight = np.asarray(weights, dtype=np.float64)
    potential = potential or tokens
    _check(depth, weight)
    depth = depth.astype(np.int64, copy=False)
    heavy = weight > 0
    if not heavy.all():
        depth, weight = depth[heavy], weight[heavy]
    stops = np.zeros(len(depth) + 1, np.int64)
    stops[1:] = depth
    gains = potential(stops)
    rises = gains[1:] - gains[:-1]  # infinite or NaN where G is
    keep = rises > 0
    whole = bool(keep.all())
    if not (whole or (keep | (rises == 0)).all()) or not math.isfinite(gains[-1]):
        raise ValueError("potential: expected finite, non-decreasing values")
    survival = weight[::-1].cumsum()[::-1]
    if len(survival) and not math.isfinite(float(survival[0]) * float(gains[-1] - gains[0])):
        raise ValueError("weights: expected numbers whose savings are finite")
    if whole:
        return Support(stops[1:], survival, gains[1:] - gains[0], potential)
    return Support(stops[1:][keep], survival[keep], gains[1:][keep] - gains[0], potential)


def _check(depth: NDArray[np.int64], weight: NDArray[np.float64]) -> None:
    if len(depth) and depth.dtype.kind not in "iu":
        raise ValueError("depths: expected whole numbers")
    if depth.ndim != 1 or depth.shape != weight.shape:
        raise ValueError("depths and weights: expected two columns of one length")
    if len(depth) and (depth[0] < 1 or (depth[1:] <= depth[:-1]).any()):
        raise ValueError("depths: expected ascending, unique and at least 1")
    if len(weight) and not (weight.min() >= 0 and math.isfinite(weight.max())):
        raise ValueError("weights: expected finite, non-negative numbers")


def expected_saving(
    depths: ArrayLike,
    weights: ArrayLike,
    positions: Sequence[int],
    potential: Potential | None = None,
) -> float:
    """Return the sum over depths of weight times G(deepest position <= depth) - G(0).

    Parameters
    ----------
    depths, weights
        The law, of any scale: divide by the weight of all requests, misses included, for the
        expectation.
    positions
        Ascending checkpoint positions.
    potential
        A non-decreasing G; tokens where None.
    """
    stops = np.concatenate(([0], np.asarray(positions, dtype=np.int64)))
    gains = (potential or tokens)(stops)
    deepest = stops.searchsorted(np.asarray(depths, dtype=np.int64), side="right") - 1
    return float(np.dot(np.asarray(weights, dtype=np.float64), gains[deepest] - gains[0]))
