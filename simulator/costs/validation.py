"""What a profile says of its own quality, as its file has it. Standard library only."""

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
    """Errors on points that the fit has not seen, of one regime, as shares of the measured time.

    Parameters
    ----------
    regime, points
        Its name, "all" for all of them; how many points.
    mean, bias
        Of the absolute errors, and of the signed ones (positive: the profile says too much).
    worst, worst_c, worst_n
        The largest error with its sign, and where it is.
    noise
        How far repeated runs lie apart: what no fit can undercut.
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
    """A point that stands apart from all others: its context, tokens and error."""

    c: _Count
    n: _Count
    error: _Share


@dataclass(frozen=True, slots=True)
class Validation:
    """Held-out errors, outliers among the fitted points, and what a reader should be told.

    Parameters
    ----------
    held_out
        One entry a regime.
    outliers
        The worst first.
    band
        Half the width of the 95 % band of a prefill's seconds that the draws give, as a share of
        them, on average over the measured points.
    warnings
        One sentence each.
    notes
        Whatever else was found.
    """

    held_out: tuple[HeldOut, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    band: Annotated[float, Within(0.0, 1e9)] | None = None
    warnings: tuple[_Text, ...] = ()
    notes: Mapping[str, object] | None = None
