"""Verdicts on differences: one rule for every study, table, chart, page and file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reports.statistics.estimate import Estimate

Verdict = Literal["better", "worse", "tied", "unsure", "equal", "unknown"]
CLAIMS: tuple[Verdict, ...] = ("better", "worse")


@dataclass(frozen=True, slots=True)
class Margin:
    """The margin that a difference is judged by.

    Parameters
    ----------
    width
        Differences up to this, either way, do not matter; in the unit of the difference.
    less_is_better
        Whether a difference below zero is an improvement, as of a time.
    """

    width: float = 0.0
    less_is_better: bool = False


def verdict(difference: Estimate) -> Verdict:
    """Return what the evidence allows to say of a difference.

    equal
        It is zero in every part: there is nothing to test.
    unknown
        It has no interval.
    tied
        The whole interval lies within the margin, so it does not matter, whatever its sign.
    better, worse
        The interval leaves zero out, and the difference stands Holm's correction for all that were
        made with it.
    unsure
        Anything else: it may be nothing, and it may matter.

    References
    ----------
    Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability". The interval here is the 95 % one, which
    claims less than the 90 % one that the two tests at 5 % amount to.
    """
    if not difference.tested:
        return "unknown" if difference.value else "equal"
    if _within(difference):
        return "tied"
    if not difference.stands:
        return "unsure"
    return "better" if (difference.value < 0) == difference.margin.less_is_better else "worse"


def _within(difference: Estimate) -> bool:
    """Whether all of the interval lies within the margin."""
    low, high, width = difference.low, difference.high, difference.margin.width
    return low is not None and high is not None and -width <= low and high <= width
