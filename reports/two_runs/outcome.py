"""What comes of comparing two folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from reports.statistics import Estimate, Verdict, corrected
from reports.two_runs.measures import Measure


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
        """Whether B is higher or lower; "tied" where the interval or Holm's p-value says so.

        "equal" is what does not differ at all, "unknown" what has no interval.
        """
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


def adjusted(comparisons: Sequence[Compared]) -> tuple[Compared, ...]:
    """Return the comparisons with p-values adjusted for having made all of them.

    Figures that are equal in every part are no comparison: there is nothing to test.
    """
    found = corrected([compared.difference for compared in comparisons])
    return tuple(
        replace(compared, difference=difference)
        for compared, difference in zip(comparisons, found, strict=True)
    )
