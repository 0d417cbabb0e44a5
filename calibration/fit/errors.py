"""Errors of a fitted cost form on held-out points, by regime.

Points are timed prefills of n tokens after c tokens of context; a regime is a range of c and n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.fit.form import REGIMES, CostForm, regimes
from calibration.fit.points import Points

OUTLIER_SIGMAS = 5.0
MOST_OUTLIERS = 10


@dataclass(frozen=True, slots=True)
class FitErrors:
    """Relative errors of the points of one regime.

    Parameters
    ----------
    regime
        Name of the regime; "all" for all points.
    points
        Number of points.
    mean, bias
        Means of the absolute and of the signed errors (positive: the form overestimates).
    worst, worst_c, worst_n
        The largest error with its sign, and the c and n at which it occurs.
    noise
        Mean spread of repeated measurements, a lower bound on the error of any form.
    """

    regime: str
    points: int
    mean: float
    bias: float
    worst: float
    worst_c: int
    worst_n: int
    noise: float


def errors_by_regime(form: CostForm, points: Points) -> list[FitErrors]:
    """Return the errors of a fit on all points, then on those of each regime that has any.

    A regime is a range of context and token counts, see `REGIMES`.
    """
    if not len(points):
        return []
    where = regimes(form, points.c, points.n)
    errors = [_error_of(form, points, "all")]
    for index, name in enumerate(REGIMES):
        if (where == index).any():
            errors.append(_error_of(form, points.select(where == index), name))
    return errors


def mean_error_beyond(form: CostForm, points: Points, n: int) -> float:
    """Return the mean absolute relative error of a fit on points with at least `n` tokens."""
    chosen = points.select(points.n >= n)
    return float(np.abs(_shares(form, chosen)).mean()) if len(chosen) else 0.0


def outliers(form: CostForm, points: Points) -> list[tuple[int, int, float]]:
    """Return `(c, n, relative error)` of outliers, the largest error first.

    An outlier deviates from the median error by more than five robust standard deviations (computed
    from the median absolute deviation) and by more than twice the noise of its point.
    """
    shares = _shares(form, points)
    if not len(shares):
        return []
    centre = np.median(shares)
    sigma = 1.4826 * np.median(np.abs(shares - centre))
    limit = np.maximum(OUTLIER_SIGMAS * sigma, 2 * points.noise)
    apart = np.flatnonzero(np.abs(shares - centre) > limit)
    apart = apart[np.argsort(-np.abs(shares[apart]), kind="stable")][:MOST_OUTLIERS]
    return [(int(points.c[at]), int(points.n[at]), float(shares[at])) for at in apart]


def _error_of(form: CostForm, points: Points, name: str) -> FitErrors:
    """Return the errors of a fit on the given points."""
    shares = _shares(form, points)
    worst = int(np.abs(shares).argmax())
    return FitErrors(
        regime=name,
        points=len(points),
        mean=float(np.abs(shares).mean()),
        bias=float(shares.mean()),
        worst=float(shares[worst]),
        worst_c=int(points.c[worst]),
        worst_n=int(points.n[worst]),
        noise=float(points.noise.mean()),
    )


def _shares(form: CostForm, points: Points) -> np.ndarray:
    """Return relative errors, predicted / measured - 1, shape (points,)."""
    return np.asarray(form.seconds(points.c, points.n) / points.value - 1)
