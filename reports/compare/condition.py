"""Conditions under which a comparison fails, such as `token_hit_rate<-1%`, `mean_ttft>+50ms`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf
from typing import Literal

from reports.compare.measures import MEASURES, Measure, measures_named
from reports.compare.outcome import Compared, TwoRuns
from simulator.base.errors import UsageError, printable
from simulator.base.units import parse_seconds
from simulator.results.percentiles import least_requests

_TEXT = re.compile(
    r"\s*(?P<name>[\w.]+)\s*(?P<sense>[<>])\s*(?P<sign>[+-]?)\s*"
    r"(?P<number>[0-9]{1,12}(\.[0-9]{0,12})?)\s*(?P<unit>%|[a-z]*)\s*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A change from A to B that fails the comparison.

    Parameters
    ----------
    text
        The condition as it was written.
    measure
        The quantity whose change is limited.
    sense
        "<": fails below the limit; ">": above it.
    limit
        A share of A where it is relative, otherwise in the unit of the measure.
    relative
        Whether it was written in per cent.
    """

    text: str
    measure: Measure
    sense: Literal["<", ">"]
    limit: float
    relative: bool

    def change(self, compared: Compared) -> float | None:
        """Return the change that the limit is about; None where a figure is missing."""
        change = compared.change
        if change is None or not self.relative:
            return change
        if not compared.a:  # any change from nothing is beyond every share of it
            return copysign(inf, change) if change else 0.0
        return compared.relative

    def broken(self, compared: Compared) -> bool:
        """Whether this figure has changed by more than the limit.

        Raises
        ------
        UsageError
            When a figure is missing: what cannot be judged must not pass.
        """
        change = self.change(compared)
        if change is None:
            where = "".join(f" at {key} {value}" for key, value in compared.place.items())
            raise UsageError(
                f"--fail-if {printable(self.text)}: {self.measure.name} is not known in both"
                f"{printable(where)} ({_missing(self.measure)})"
            )
        return change < self.limit if self.sense == "<" else change > self.limit


def _missing(measure: Measure) -> str:
    """Return a likely reason why a measure is missing."""
    if measure.level is None:
        return "nothing finished"
    needed = f"{least_requests(measure.level):,}"
    name = measure.name.removesuffix("_ttft").upper()
    kept = "" if measure.name in MEASURES else "; a sweep keeps it where study.percentiles asks"
    return f"nothing finished, or fewer than {needed} requests for a {name}{kept}"


def parse_condition(text: str) -> Condition:
    """Parse `MEASURE<CHANGE` or `MEASURE>CHANGE`.

    `%` is per cent of A; `points` are percentage points of a share; ns, us, ms, s, min and h are
    differences of times.

    Raises
    ------
    UsageError
        For anything else, an unknown measure, or a unit that its measure does not have.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        problem = "expected a measure, < or >, and a change, as in token_hit_rate<-1%"
        raise UsageError(f"--fail-if {printable(text)}: {problem}")
    (measure,) = measures_named([match["name"]], f"--fail-if {printable(text)}")
    amount = _amount(text, measure, match["number"], match["unit"])
    limit = -amount if match["sign"] == "-" else amount
    sense: Literal["<", ">"] = "<" if match["sense"] == "<" else ">"
    return Condition(text.strip(), measure, sense, limit, relative=match["unit"] == "%")


def broken(runs: TwoRuns, conditions: Sequence[Condition]) -> list[tuple[Condition, Compared]]:
    """Return every figure that has changed by more than a limit, with the limit.

    Raises
    ------
    UsageError
        When a condition is about a figure that is missing.
    """
    return [
        (condition, compared)
        for condition in conditions
        for compared in runs.comparisons
        if compared.measure == condition.measure and condition.broken(compared)
    ]


def _amount(text: str, measure: Measure, number: str, unit: str) -> float:
    if unit == "%":
        return float(number) / 100
    if measure.unit == "share":
        if unit in {"point", "points"}:
            return float(number) / 100
        expected = "% (of A) or points (of a share)"
    else:
        if unit:
            return parse_seconds(f"{number} {unit}", f"--fail-if {printable(text)}")
        expected = "% (of A) or a time, as in 50ms"
    shown = f"'{unit}'" if unit else "no unit"
    raise UsageError(f"--fail-if {printable(text)}: expected {expected}, found {shown}")
