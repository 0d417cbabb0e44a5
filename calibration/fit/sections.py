"""The fields of a cost profile that contain results of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from calibration.fit.bands import band
from calibration.fit.errors import errors_by_regime, outliers
from calibration.fit.form import CostForm
from calibration.fit.points import Float64, Points

_MICRO = 1e6
LEAST_SECONDS = 1e-9  # smallest F, since profiles require positive times


def prefill_section(
    form: CostForm, points: Points, draws: Sequence[CostForm] = ()
) -> dict[str, Any]:
    """Return the profile's field `prefill`, with times rounded to picoseconds.

    Parameters
    ----------
    form
        The fit to `points`.
    points
        The measured points, all of which are stored; they also define the valid range.
    draws
        Results of `draw_forms`, with the knots of `form`.
    """
    section = {
        "F": {"n": form.knots.tolist(), "us": _us(np.maximum(form.own_seconds, LEAST_SECONDS))},
        "e_us_per_pair": form.pair_seconds * _MICRO,
        "g_us_per_token": form.context_seconds * _MICRO,
        "valid": {"n_max": int(points.n.max()), "c_max": int(points.c.max())},
        "c": points.c.tolist(),
        "n": points.n.tolist(),
        "median": _us(np.median(points.seconds, axis=1)),
        "quartiles": [_us(pair) for pair in np.quantile(points.seconds, [0.25, 0.75], axis=1).T],
    }
    if points.typical != "median":
        section["fitted"] = _us(points.value)
    if draws:
        section["draws"] = [
            {
                "us": _us(np.maximum(draw.own_seconds, LEAST_SECONDS)),
                "e_us_per_pair": draw.pair_seconds * _MICRO,
                "g_us_per_token": draw.context_seconds * _MICRO,
            }
            for draw in draws
        ]
    return section


def validation_section(
    form: CostForm, points: Points, held_out: Points, draws: Sequence[CostForm] = ()
) -> dict[str, Any]:
    """Return the profile's field `validation`; `points` are those of the fit."""
    section: dict[str, Any] = {
        "held_out": [asdict(error) for error in errors_by_regime(form, held_out)],
        "outliers": [{"c": c, "n": n, "error": error} for c, n, error in outliers(form, points)],
    }
    if draws:
        low, high = band(list(draws), points.c, points.n)
        section["band"] = float(((high - low) / 2 / form.seconds(points.c, points.n)).mean())
    return section


def _us(seconds: Float64) -> list[float]:
    """Convert seconds to microseconds, rounded to picoseconds."""
    return [round(value, 6) for value in (seconds * _MICRO).tolist()]
