"""Fits the cost form t(c, n) = F(n) + e n (c + n/2) + g c to timed points.

It is the time to prefill n tokens after c tokens of context. All coefficients come from one linear
least-squares problem in which F is non-decreasing and e, g are non-negative. F has a knot at every
measured n, so that e and g depend only on how the time changes with c at fixed n. A straight line
for F would attribute the growth of cost per token with n to e, making it 2.3 to 2.7 times too
large.
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
    """Fit the cost form to `points`.

    Parameters
    ----------
    points
        At least as many as there are coefficients.
    knots
        int64, ascending: the n at which F has knots; None for every measured n.
    errors
        Whether to minimise squared "relative" errors, which gives short prefills equal weight, or
        "absolute" ones.
    context_term
        Whether g may differ from zero.

    Raises
    ------
    ValueError
        If there are fewer than two knots, or the points do not determine the coefficients.
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
    # Errors relative to measured times favour short times; those relative to fitted times do not.
    return refit(form, points, seconds, errors=errors, context_term=context_term)


def refit(
    form: CostForm, points: Points, seconds: Float64, *, errors: Errors, context_term: bool
) -> CostForm:
    """Refit a cost form to other times of the same points.

    Relative errors refer to the times that `form` predicts.
    """
    matrix = design(form.knots, points.c, points.n)
    weight = 1 / (matrix @ form.coefficients()) if errors == "relative" else np.ones_like(seconds)
    return _solved(form.knots, matrix, seconds, weight, context_term)


def _solved(
    knots: Int64, matrix: Float64, seconds: Float64, weight: Float64, context_term: bool
) -> CostForm:
    """Return the cost form that minimises the weighted squared errors."""
    # The unknowns are F at the first knot and its increments from knot to knot, all non-negative.
    steps = np.cumsum(matrix[:, -3::-1], axis=1)[:, ::-1]
    terms = np.column_stack([steps, matrix[:, -2], matrix[:, -1] * context_term])
    weighted = terms * weight[:, None]
    scale = column_lengths(weighted)
    # QR reduces thousands of equations to one per unknown, with the same solution.
    rotation, triangle = np.linalg.qr(weighted / scale)
    target = rotation.T @ (seconds * weight)
    solved = lsq_linear(triangle, target, bounds=(0, np.inf), method="bvls").x
    unknowns = np.maximum(solved, 0) / scale  # rounding may leave one below its bound
    return CostForm.of(knots, np.concatenate([np.cumsum(unknowns[:-2]), unknowns[-2:]]))


def column_lengths(matrix: Float64) -> Float64:
    """Return the norm of each column, 1 for zero columns; they differ by orders of magnitude."""
    lengths = np.linalg.norm(matrix, axis=0)
    return np.where(lengths == 0, 1.0, lengths)


def _check_apart(matrix: Float64) -> None:
    """Raise ValueError if the points do not determine the coefficients uniquely."""
    if np.linalg.matrix_rank(matrix / column_lengths(matrix)) < matrix.shape[1]:
        raise ValueError(
            f"{len(matrix)} points do not set {matrix.shape[1]} coefficients: expected points "
            "around every knot, and several contexts at one n"
        )
