"""One measure of two traces, and what may be said of its difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, log
from typing import Any, Literal

from reports.statistics import SIGNIFICANCE, holm

NONE = 2.0  # the size of a difference from nothing

Kind = Literal["ratio", "share", "distance"]
Verdict = Literal["beyond chance", "may be chance", "the same", "not tested"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of A and of B.

    Parameters
    ----------
    name
        By which JSON has it.
    kind
        "ratio": what counts is how many times as large one is; "share": how many points they are
        apart; "distance": `apart` is one of two laws or curves.
    a, b
        The figures; None of a distance.
    unit
        "tokens", "seconds", "requests", "share", ...
    apart
        b / a (infinite where only a is 0), b - a, or the distance.
    sentence
        What the figures say; not whether to believe it.
    p_value
        How often chance does as much; None where nothing tells.
    adjusted_p_value
        With Holm's correction for all measures.
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
        """Say whether to believe it."""
        if not self.size:
            return "the same"
        if self.adjusted_p_value is None:
            return "not tested"
        return "beyond chance" if self.adjusted_p_value <= SIGNIFICANCE else "may be chance"

    @property
    def size(self) -> float:
        """The size of the difference beside those of other measures.

        A share that moves by ten points counts as much as a figure that grows by a fifth, and as
        laws that are 0.2 apart.
        """
        if self.kind == "ratio":
            return abs(log(self.apart)) if 0 < self.apart < inf else NONE
        return abs(self.apart) * (2 if self.kind == "share" else 1)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = asdict(self) | {"verdict": self.verdict, "size": self.size}
        return plain | {"apart": self.apart if self.apart < inf else None}


def ratio(
    name: str, a: float, b: float, unit: str, sentence: str, p_value: float | None
) -> Difference:
    """Return how many times as large a figure of B is."""
    apart = 1.0 if a == b else b / a if a else inf
    return Difference(name, "ratio", a, b, unit, apart, sentence, p_value)


def distance(
    name: str, apart: float, unit: str, sentence: str, p_value: float | None
) -> Difference:
    """Return how far two laws or curves are apart."""
    return Difference(name, "distance", None, None, unit, apart, sentence, p_value)


def judged(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return differences by importance, corrected for how many there are.

    Those beyond chance come first, those that nothing tests last; within these, larger ones.
    """
    tested = [each for each in differences if each.p_value is not None]
    adjusted = iter(holm([each.p_value or 0.0 for each in tested]))
    corrected = [
        each if each.p_value is None else replace(each, adjusted_p_value=next(adjusted))
        for each in differences
    ]
    ranks = ("beyond chance", "may be chance", "not tested", "the same")
    return tuple(sorted(corrected, key=lambda each: (ranks.index(each.verdict), -each.size)))
