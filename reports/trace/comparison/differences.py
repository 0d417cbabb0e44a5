"""The difference of one measure between two traces, and whether it is significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, log
from typing import Any, Literal

from reports.statistics import SIGNIFICANCE, holm

NONE = 2.0  # the size of a difference between 0 and another value

Kind = Literal["ratio", "share", "distance"]
Verdict = Literal["beyond chance", "may be chance", "the same", "not tested"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of one measure between traces A and B.

    Parameters
    ----------
    name
        The name of the measure in JSON.
    kind
        "ratio": B divided by A; "share": B minus A, both from 0 to 1; "distance": the distance of
        two distributions or curves.
    a, b
        The values of the measure; None for a distance.
    unit
        "tokens", "seconds", "requests", "share", ...
    apart
        b / a (infinite where only a is 0), b - a, or the distance.
    sentence
        The values in words, without a verdict.
    p_value
        The p-value of the permutation test; None where it could not be tested.
    adjusted_p_value
        The p-value after Holm's correction for all measures.
    """

    name: str
    kind: Kind
    a: float | None
    b: float | None
    unit: str
    apart: float
    sentence: str
    p_value: float | None = None
    adjusted_p_value: float | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict: "beyond chance" is a significant difference at 5 % after the correction."""
        if not self.size:
            return "the same"
        if self.adjusted_p_value is None:
            return "not tested"
        return "beyond chance" if self.adjusted_p_value <= SIGNIFICANCE else "may be chance"

    @property
    def size(self) -> float:
        """The size of the difference, comparable with the sizes of other measures.

        It is |log(b / a)| for a ratio, twice the difference for shares, and the distance itself.
        """
        if self.kind == "ratio":
            return abs(log(self.apart)) if 0 < self.apart < inf else NONE
        return abs(self.apart) * (2 if self.kind == "share" else 1)

    def as_json(self) -> dict[str, Any]:
        """Return the difference as plain values for JSON."""
        plain = asdict(self) | {"verdict": self.verdict, "size": self.size}
        return plain | {"apart": self.apart if self.apart < inf else None}


def ratio(
    name: str, a: float, b: float, unit: str, sentence: str, p_value: float | None
) -> Difference:
    """Return the difference of a measure as the ratio b / a."""
    apart = 1.0 if a == b else b / a if a else inf
    return Difference(name, "ratio", a, b, unit, apart, sentence, p_value)


def distance(
    name: str, apart: float, unit: str, sentence: str, p_value: float | None
) -> Difference:
    """Return the difference of two distributions or curves as a distance."""
    return Difference(name, "distance", None, None, unit, apart, sentence, p_value)


def judged(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return differences by importance, with p-values adjusted by Holm's correction.

    Significant ones come first, then those that may be chance, untested ones, and equal values;
    within each group larger ones come first.
    """
    tested = [each for each in differences if each.p_value is not None]
    adjusted = iter(holm([each.p_value or 0.0 for each in tested]))
    corrected = [
        each if each.p_value is None else replace(each, adjusted_p_value=next(adjusted))
        for each in differences
    ]
    ranks = ("beyond chance", "may be chance", "not tested", "the same")
    return tuple(sorted(corrected, key=lambda each: (ranks.index(each.verdict), -each.size)))
