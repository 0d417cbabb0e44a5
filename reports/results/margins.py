"""Margins within which two figures are tied: points of a rate, a share of a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec

from reports.documents import Share
from reports.statistics import Estimate, Margin
from reports.study.sections import MARGIN_POINTS, MARGIN_TIMES


@dataclass(frozen=True, slots=True)
class Margins:
    """The margins of a study.

    Parameters
    ----------
    points
        Percentage points of rates, such as the token hit rate.
    times
        A share of the time that another is compared with, such as that of the baseline.
    """

    points: Annotated[float, msgspec.Meta(ge=0, le=100)] = MARGIN_POINTS
    times: Share = MARGIN_TIMES

    @classmethod
    def of(cls, study: Mapping[str, Any]) -> Margins:
        """Return those of a resolved study; the usual ones where it is older and states none."""
        keys = study.get("study") or {}
        return cls(keys.get("margin_points", MARGIN_POINTS), keys.get("margin_times", MARGIN_TIMES))

    def rate(self, difference: Estimate | None) -> Estimate | None:
        """Return a difference of two rates with the margin within which it is tied."""
        return difference and replace(difference, margin=Margin(self.points / 100))

    def time(self, difference: Estimate | None, reference_seconds: float) -> Estimate | None:
        """Return a difference of two times with its margin for ties, a share of the second."""
        width = self.times * abs(reference_seconds)
        return difference and replace(difference, margin=Margin(width, less_is_better=True))

    @property
    def of_rates(self) -> str:
        """The margin of rates in words: "0.5 points"."""
        return f"{self.points:g} point{'' if self.points == 1 else 's'}"

    @property
    def of_times(self) -> str:
        """The margin of times in words: "2 %"."""
        return f"{100 * self.times:g} %"

    @property
    def text(self) -> str:
        """Both in words."""
        return f"{self.of_rates} of a rate or {self.of_times} of a time"
