"""Results of comparing two folders, as stored in `compare.json`.

Fields with a default are those that earlier versions did not write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from reports.compare.measures import Measure, measures_named
from reports.documents import Amount, Number, Share, Text, Whole
from reports.results.margins import Margins
from reports.statistics import Estimate, Margin, Method, Verdict, corrected
from simulator.base.errors import UsageError

USUAL_MARGINS = Margins()
CAPACITY = "cache.capacity"


class Change(msgspec.Struct, frozen=True):
    """A setting, a version or a trait of the trace that differs; None where one lacks it."""

    key: Text
    a: Any
    b: Any


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of A and of B.

    Parameters
    ----------
    place
        The grid's key -> value, for a cell of a sweep; empty for a run.
    a, b
        The figures; None where one is not defined.
    change
        `b - a`; None where a figure is missing.
    low, high, resampled, count, freedom, reason
        The interval and its basis: the attributes of the same names of `Estimate`.
    p_holm
        The p-value adjusted for all comparisons made; None where no test was made.
    margin
        The margin within which the figures count as tied, in their unit.
    """

    place: dict[Text, Any]
    measure_name: Text = msgspec.field(name="measure")
    a: Number | None
    b: Number | None
    change: Number | None = msgspec.field(name="difference")
    low: Number | None
    high: Number | None
    resampled: Method | None
    count: Whole | None
    freedom: Annotated[float, msgspec.Meta(gt=0, le=1e15)] | None
    reason: Text | None = None
    p_holm: Share | None
    margin: Amount | None = None

    def __post_init__(self) -> None:
        try:
            measures_named([self.measure_name], "measure")
        except UsageError as error:
            raise ValueError(str(error)) from None
        if not _is_capacity(self.place.get(CAPACITY)):
            raise ValueError(f"place: expected bytes as '{CAPACITY}'")
        if self.change is None:
            return
        if self.resampled is None or self.count is None:
            raise ValueError("expected 'resampled' and 'count' beside a difference")
        if (self.low is None) != (self.high is None):
            raise ValueError("expected both ends of an interval, or none")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("expected 'low' up to 'high'")

    @classmethod
    def of(
        cls,
        place: Mapping[str, Any],
        measure: Measure,
        a: float | None,
        b: float | None,
        difference: Estimate | None,
    ) -> Compared:
        """Return the figure of a measure; the difference is None where `a` or `b` is."""
        gap: Any = difference
        return cls(
            place=dict(place),
            measure_name=measure.name,
            a=a,
            b=b,
            change=gap and gap.value,
            low=gap and gap.low,
            high=gap and gap.high,
            resampled=gap and gap.method,
            count=gap and gap.count,
            freedom=gap and gap.freedom,
            reason=gap and gap.reason,
            p_holm=gap and gap.p_holm,
            margin=gap and gap.margin.width,
        )

    @property
    def measure(self) -> Measure:
        """The measure that is compared."""
        return measures_named([self.measure_name], "measure")[0]

    @property
    def difference(self) -> Estimate | None:
        """`b - a` with its interval; None where a figure is missing."""
        if self.change is None or self.resampled is None or self.count is None:
            return None
        return Estimate(
            self.change,
            self.low,
            self.high,
            self.resampled,
            self.count,
            self.freedom,
            self.p_holm,
            Margin(self.margin or 0.0, less_is_better=self.measure.unit == "seconds"),
            self.reason or "",
        )

    @property
    def relative(self) -> float | None:
        """The difference as a share of A; None where A is 0 or a figure is missing."""
        return None if self.change is None or not self.a else self.change / self.a

    @property
    def tested(self) -> bool:
        """Whether there is a test to make: an interval, and a difference in some part."""
        return self.difference is not None and self.difference.tested

    @property
    def verdict(self) -> Verdict:
        """Whether B is better or worse, tied, unsure or equal; "unknown" without an interval."""
        return "unknown" if self.difference is None else self.difference.verdict

    def within(self, margins: Margins) -> Compared:
        """Return the figure as some margins judge it."""
        gap, share = self.difference, self.measure.unit == "share"
        judged = margins.rate(gap) if share else margins.time(gap, self.a or 0.0)
        return msgspec.structs.replace(self, margin=judged and judged.margin.width)


class BothTokens(msgspec.Struct, frozen=True):
    """Tokens that were not saved, in A and in B."""

    a: Whole
    b: Whole


class TwoRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Two folders compared.

    Parameters
    ----------
    kind
        "run" or "sweep".
    a, b
        The folders.
    paired
        Whether differences are those of the same requests.
    changes
        The differences in settings, trace and versions.
    comparisons
        One for each figure of each cell.
    requests
        For paired runs, how many requests save "more", "less" or "the same" in B.
    notes
        Notes for the reader.
    margins
        The margins within which figures count as tied.
    """

    kind: Literal["run", "sweep"]
    a: Text
    b: Text
    paired: bool
    changes: tuple[Change, ...]
    comparisons: tuple[Compared, ...]
    requests: dict[Text, Whole]
    lost: dict[Text, BothTokens] = msgspec.field(name="lost_tokens")
    notes: tuple[Text, ...]
    margins: Margins = USUAL_MARGINS

    @property
    def lost_tokens(self) -> dict[str, tuple[int, int]]:
        """Of runs: loss -> tokens in A and in B, as in loss attribution."""
        return {loss: (both.a, both.b) for loss, both in self.lost.items()}


def judged(runs: TwoRuns, margins: Margins) -> TwoRuns:
    """Return the two with each difference told by margins and by p-values for all of them.

    Figures that are equal in every part are no comparison: there is nothing to test.
    """
    differences = corrected([compared.difference for compared in runs.comparisons])
    comparisons = tuple(
        msgspec.structs.replace(compared, p_holm=difference and difference.p_holm).within(margins)
        for compared, difference in zip(runs.comparisons, differences, strict=True)
    )
    return msgspec.structs.replace(runs, comparisons=comparisons, margins=margins)


def _is_capacity(value: Any) -> bool:
    """Whether a place names no capacity, or one in bytes."""
    return value is None or (type(value) in {int, float} and 0 <= value < 1 << 62)
