"""What comes of comparing two folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from reports.compare.measures import Measure
from reports.results.margins import Margins
from reports.statistics import Estimate, Verdict, corrected

USUAL_MARGINS = Margins()


@dataclass(frozen=True, slots=True)
class Change:
    """A setting, a version or a trait of the trace that differs; None where one lacks it."""

    key: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of A and of B.

    Parameters
    ----------
    place
        The grid's key -> value, for a cell of a sweep; empty for a run.
    a, b
        The figures; None where one is not defined.
    difference
        `b - a` with its interval; None where a figure is missing.
    """

    place: Mapping[str, Any]
    measure: Measure
    a: float | None
    b: float | None
    difference: Estimate | None

    @property
    def p_holm(self) -> float | None:
        """The p-value adjusted for all comparisons made; None where no test was made."""
        return None if self.difference is None else self.difference.p_holm

    @property
    def change(self) -> float | None:
        """The difference without its interval."""
        return None if self.difference is None else self.difference.value

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


@dataclass(frozen=True, slots=True)
class TwoRuns:
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
        What differs in settings, trace and versions.
    comparisons
        One a figure, and a cell.
    requests
        Of paired runs: how many requests save "more", "less" or "the same" in B.
    lost_tokens
        Of runs: loss -> tokens in A and in B, as in loss attribution.
    notes
        What a reader must know.
    margins
        Within what figures are called tied.
    """

    kind: Literal["run", "sweep"]
    a: str
    b: str
    paired: bool
    changes: tuple[Change, ...]
    comparisons: tuple[Compared, ...]
    requests: Mapping[str, int]
    lost_tokens: Mapping[str, tuple[int, int]]
    notes: tuple[str, ...]
    margins: Margins = USUAL_MARGINS


def judged(runs: TwoRuns, margins: Margins) -> TwoRuns:
    """Return the two with each difference told by margins and by p-values for all of them.

    Figures that are equal in every part are no comparison: there is nothing to test.
    """
    differences = corrected([compared.difference for compared in runs.comparisons])
    comparisons = tuple(
        replace(compared, difference=compared.measure.judged(difference, compared.a, margins))
        for compared, difference in zip(runs.comparisons, differences, strict=True)
    )
    return replace(runs, comparisons=comparisons, margins=margins)
