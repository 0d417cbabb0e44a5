"""The fields of a cost profile file on the accuracy of its fit; standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from simulator.base.decode import Matches, Within

_Text = Annotated[str, Matches(r"[^\x00-\x1f]{1,4096}", "a text of 1 to 4096 characters")]
_Count = Annotated[int, Within(0, 2**40)]
_Share = Annotated[float, Within(-1e9, 1e9)]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Relative errors of the fit on held-out points of one regime.

    Points are timed prefills of n tokens after c tokens of context; a regime is a range of c and n.

    Parameters
    ----------
    regime, points
        Name of the regime ("all" for all points), and number of points.
    mean, bias
        Means of the absolute and of the signed errors (positive: the profile overestimates).
    worst, worst_c, worst_n
        The largest error with its sign, and the context c and tokens n at which it occurs.
    noise
        Relative spread of repeated measurements, a lower bound on the error of any fit.
    """

    regime: _Text
    points: _Count
    mean: Annotated[float, Within(0.0, 1e9)]
    bias: _Share
    worst: _Share
    worst_c: _Count
    worst_n: _Count
    noise: Annotated[float, Within(0.0, 1e9)] = 0.0


@dataclass(frozen=True, slots=True)
class Outlier:
    """A point with an exceptionally large error: its context, tokens and relative error."""

    c: _Count
    n: _Count
    error: _Share


@dataclass(frozen=True, slots=True)
class Validation:
    """Held-out errors, outliers among the fitted points, and warnings.

    Parameters
    ----------
    held_out
        One entry per regime.
    outliers
        The largest error first.
    band
        Half the relative width of the 95 % band of prefill times over the draws, averaged over the
        measured points.
    warnings
        Warnings for the reader, one sentence each.
    notes
        Further findings.
    """

    held_out: tuple[HeldOut, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    band: Annotated[float, Within(0.0, 1e9)] | None = None
    warnings: tuple[_Text, ...] = ()
    notes: Mapping[str, object] | None = None
