"""How far a form is off on points that it has not seen, regime by regime."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.fit.form import REGIMES, CostForm, regimes
from calibration.fit.points import Points

OUTLIER_SIGMAS = 5.0
MOST_OUTLIERS = 10


@dataclass(frozen=True, slots=True)
class FitErrors:
    """Errors of one regime, as shares of the measured time.

    Parameters
    ----------
    regime
        Its name; "all" for all points.
    points
        How many there are.
    mean, bias
        Of the absolute errors, and of the signed ones (positive: the form says too much).
    worst, worst_c, worst_n
        The largest error, with its sign, and where it is.
    noise
        Mean distance of repeated runs: what no form can undercut.
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
    """Return the errors of all points, then of each regime that has any."""
    if not len(points):
        return []
    where = regimes(form, points.c, points.n)
    errors = [_error_of(form, points, "all")]
    for index, name in enumerate(REGIMES):
        if (where == index).any():
            errors.append(_error_of(form, points.select(where == index), name))
    return errors


def mean_error_beyond(form: CostForm, points: Points, n: int) -> float:
    """Return the mean absolute error, a share, of points of at least `n` tokens."""
    chosen = points.select(points.n >= n)
    return float(np.abs(_shares(form, chosen)).mean()) if len(chosen) else 0.0


def outliers(form: CostForm, points: Points) -> list[tuple[int, int, float]]:
    """Return `(c, n, error)` of the points that stand apart from all others, the worst first.

    Apart means beyond five robust standard deviations (from the median absolute deviation) and
    beyond twice the noise of the point.
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
    """Return predicted over measured less one, shape (points,)."""
    return np.asarray(form.seconds(points.c, points.n) / points.value - 1)
