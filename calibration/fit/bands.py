"""How sure the coefficients are: refits to resampled residuals.

Residuals stand for repeated measurements, so a draw is what the fit might have been on another day.
What the form itself cannot say (a wrong shape of F between knots) is not in it: the errors on
held-out points are. With 40 points, bands of 95 % covered the truth in 91 to 93 % of trials.

References
----------
Davison and Hinkley (1997), "Bootstrap methods and their application", section 6.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibration.fit.fit import Errors, column_lengths, refit
from calibration.fit.form import CostForm, design, regimes
from calibration.fit.points import Float64, Int64, Points

DRAWS = 64
_LEAST_SHARE = 0.05  # of the fit's time, that a drawn time keeps
_MOST_LEVERAGE = 0.9


def draw_forms(
    form: CostForm,
    points: Points,
    *,
    seed: int,
    draws: int = DRAWS,
    errors: Errors = "relative",
    context_term: bool = True,
) -> list[CostForm]:
    """Return forms refitted to the fit's own times with residuals drawn anew.

    Residuals are shares of the time, each widened by what the fit took of it, and drawn with
    replacement within their regime, less its mean. The same seed gives the same forms.

    Parameters
    ----------
    form
        What `fit_form` made of `points`, with the same `errors` and `context_term`.
    points
        The points of the fit.
    seed, draws
        Of the random numbers; forms to return.
    """
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(b"residuals")))
    fitted = form.seconds(points.c, points.n)
    groups = _groups(regimes(form, points.c, points.n))
    residuals = _modified_residuals(form, points, errors)
    for group in groups:  # around zero, or the draws would lie around another form than this one
        residuals[group] -= residuals[group].mean()
    forms = []
    for _ in range(draws):
        drawn = np.empty(len(points))
        for group in groups:
            drawn[group] = residuals[random.choice(group, size=len(group))]
        times = fitted * np.maximum(1 + drawn, _LEAST_SHARE)
        forms.append(refit(form, points, times, errors=errors, context_term=context_term))
    return forms


def band(forms: list[CostForm], c: Int64, n: Int64, level: float = 0.95) -> tuple[Float64, Float64]:
    """Return the least and greatest seconds of `level` of the forms, shape of `n` each."""
    seconds = np.stack([form.seconds(c, n) for form in forms])
    # Weibull's: between these ends another form would lie, however few there are.
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(seconds, ends, axis=0, method="weibull")
    return low, high


def _modified_residuals(form: CostForm, points: Points, errors: Errors) -> Float64:
    """Return the residuals as shares of the fit's time, each widened by what the fit took of it.

    A point with leverage h pulls the fit towards itself, so its residual is smaller than its error
    by sqrt(1 - h).
    """
    fitted = form.seconds(points.c, points.n)
    matrix = design(form.knots, points.c, points.n)
    if errors == "relative":
        matrix = matrix / fitted[:, None]
    rotation = np.linalg.qr(matrix / column_lengths(matrix))[0]
    leverage = np.minimum((rotation**2).sum(axis=1), _MOST_LEVERAGE)
    return np.asarray((points.value / fitted - 1) / np.sqrt(1 - leverage))


def _groups(where: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [np.flatnonzero(where == index) for index in np.unique(where)]
