"""Measures by which two runs are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from reports.results.evidence import Metric
from reports.words import known, signed_seconds
from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.base.units import format_seconds
from simulator.results.percentiles import level_of, percentile_name


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a run."""

    name: str  # as on the command line
    metric: Metric  # the same among the metrics of a cell
    unit: Literal["share", "seconds"]  # a share of 1, or seconds
    # of a quantile of times to first token; None for what is a ratio of sums
    level: float | None = None

    @property
    def words(self) -> str:
        """The measure in words."""
        return _WORDS.get(self.name) or f"{self.name.removesuffix('_ttft').upper()} TTFT"

    def shown(self, value: float | None) -> str:
        """Return a value with its unit."""
        share = self.unit == "share"
        return known(value, lambda v: f"{100 * v:.2f} %" if share else format_seconds(v))

    def shown_difference(self, value: float | None) -> str:
        """Return a difference with its sign; of shares in points, not to be taken for per cent."""
        share = self.unit == "share"
        return known(value, lambda v: f"{100 * v:+.2f} points" if share else signed_seconds(v))

    def shown_interval(self, low: float | None, high: float | None) -> str:
        """Return an interval of a difference."""
        if low is None or high is None:
            return "n/a"
        if self.unit == "share":
            return f"{100 * low:+.2f} to {100 * high:+.2f}"
        return f"{signed_seconds(low)} to {signed_seconds(high)}"


_WORDS = {
    "token_hit_rate": "token hit rate",
    "mean_ttft": "mean TTFT",
    "p50_ttft": "median TTFT",
    "finished_share": "finished share of the requests",
}
MEASURES = {
    measure.name: measure
    for measure in (
        Measure("token_hit_rate", "token_hit_rate", "share"),
        Measure("mean_ttft", "ttft_seconds", "seconds"),
        Measure("p50_ttft", "ttft_p50_seconds", "seconds", 0.5),
        Measure("p90_ttft", "ttft_p90_seconds", "seconds", 0.9),
        Measure("p99_ttft", "ttft_p99_seconds", "seconds", 0.99),
        Measure("finished_share", "finished_share", "share"),
    )
}
_PERCENTILE = re.compile(r"(p[0-9][0-9.]*)_ttft", re.ASCII)
USUAL = ("token_hit_rate", "mean_ttft", "p99_ttft", "finished_share")


def measures_named(names: Iterable[str], what: str) -> tuple[Measure, ...]:
    """Return the measures of these names, each once, in the order of MEASURES, then by level.

    Besides MEASURES there is every percentile of the time to first token, as in p99.9_ttft.

    Raises
    ------
    UsageError
        For a name that is none; `what` says where it stands.
    """
    wanted = {measure.name: measure for measure in (_named(name, what) for name in sorted(names))}
    return tuple(sorted(wanted.values(), key=in_order))


def in_order(measure: Measure) -> tuple[int, float]:
    """Return a key by which measures are sorted: that of MEASURES, other percentiles last."""
    known = [*MEASURES]
    place = known.index(measure.name) if measure.name in known else len(known)
    return place, measure.level or 0.0


def _named(name: str, what: str) -> Measure:
    match = _PERCENTILE.fullmatch(name)
    if match is not None:
        percentile = percentile_name(match[1], what)
        name = f"{percentile}_ttft"
    if name in MEASURES:
        return MEASURES[name]
    if match is None:
        shown = printable(name, 40)
        raise UsageError(f"{what}: unknown measure '{shown}'{did_you_mean(shown, list(MEASURES))}")
    column = cast(Metric, f"ttft_{percentile}_seconds")  # a cell has it where the study asks for it
    return Measure(name, column, "seconds", level_of(percentile))
