"""Fits the cost form to timed points.

All coefficients come from one linear least-squares problem: F never decreases, and e and g are not
below zero. F has a knot at every n that was measured, so that e and g are set by how the time moves
with c at fixed n alone: a form with a straight F would put the rise of the cost per token with n
into e, which makes it 2.3 to 2.7 times too large.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.optimize import lsq_linear

from calibration.fit.form import CostForm, design
from calibration.fit.points import Float64, Int64, Points

Errors = Literal["relative", "absolute"]


def fit_form(
    points: Points,
    knots: Int64 | None = None,
    *,
    errors: Errors = "relative",
    context_term: bool = True,
) -> CostForm:
    """Return the form that errs least on `points`.

    Parameters
    ----------
    points
        At least as many as there are coefficients.
    knots
        Of F, ascending; None for every n that was measured.
    errors
        Which errors are squared: shares of the time, which gives short prefills their due, or
        seconds.
    context_term
        Whether g may differ from zero.

    Raises
    ------
    ValueError
        If there are fewer than two knots, or the points do not tell the coefficients apart.
    """
    chosen = np.unique(points.n) if knots is None else np.asarray(knots, dtype=np.int64)
    if len(chosen) < 2:
        raise ValueError("expected at least two different n")
    seconds = points.value
    matrix = design(chosen, points.c, points.n)
    _check_apart(matrix[:, : len(chosen) + 1 + context_term])
    if errors == "absolute":
        return _solved(chosen, matrix, seconds, np.ones_like(seconds), context_term)
    form = _solved(chosen, matrix, seconds, 1 / seconds, context_term)
    # Shares of the measured times favour those that came out short; shares of the fit's do not.
    return refit(form, points, seconds, errors=errors, context_term=context_term)


def refit(
    form: CostForm, points: Points, seconds: Float64, *, errors: Errors, context_term: bool
) -> CostForm:
    """Return the form for other times of the same points; shares are of the times of `form`."""
    matrix = design(form.knots, points.c, points.n)
    weight = 1 / (matrix @ form.coefficients()) if errors == "relative" else np.ones_like(seconds)
    return _solved(form.knots, matrix, seconds, weight, context_term)


def _solved(
    knots: Int64, matrix: Float64, seconds: Float64, weight: Float64, context_term: bool
) -> CostForm:
    """Return the form with the least weighted squared errors."""
    # Unknowns are F at the first knot and its steps from knot to knot, none below zero.
    steps = np.cumsum(matrix[:, -3::-1], axis=1)[:, ::-1]
    terms = np.column_stack([steps, matrix[:, -2], matrix[:, -1] * context_term])
    weighted = terms * weight[:, None]
    scale = column_lengths(weighted)
    # Thousands of points become as many equations as there are unknowns, with the same solution.
    rotation, triangle = np.linalg.qr(weighted / scale)
    target = rotation.T @ (seconds * weight)
    solved = lsq_linear(triangle, target, bounds=(0, np.inf), method="bvls").x
    unknowns = np.maximum(solved, 0) / scale  # rounding may leave one below its bound
    return CostForm.of(knots, np.concatenate([np.cumsum(unknowns[:-2]), unknowns[-2:]]))


def column_lengths(matrix: Float64) -> Float64:
    """Return the length of each column, 1 for an empty one: they differ by ten powers of ten."""
    lengths = np.linalg.norm(matrix, axis=0)
    return np.where(lengths == 0, 1.0, lengths)


def _check_apart(matrix: Float64) -> None:
    """Refuse points for which several sets of coefficients are equally right."""
    if np.linalg.matrix_rank(matrix / column_lengths(matrix)) < matrix.shape[1]:
        raise ValueError(
            f"{len(matrix)} points do not set {matrix.shape[1]} coefficients: expected points "
            "around every knot, and several contexts at one n"
        )
