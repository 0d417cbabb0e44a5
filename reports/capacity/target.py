"""Targets of a capacity search: a metric, a direction and a limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.base.units import format_seconds, parse_seconds
from simulator.results.percentiles import level_of, percentile_name

Unit = Literal["seconds", "share", "rate", "dollars"]

_FORM = re.compile(r"\s*([\w.]+)\s*(<=|>=|==|=|<|>)\s*(.+?)\s*", re.DOTALL)
_PERCENTILE = re.compile(r"(p[0-9][0-9.]*)_ttft", re.ASCII)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_SUFFIXES = {"share": r"\s*(%?)", "rate": r"\s*((?:requests)?/s)?", "dollars": r"()"}
_EXPECTED = {
    "share": "a share above 0 and up to 1, as in 40% or 0.4",
    "rate": "requests per second, as in 5/s",
    "dollars": "dollars per million prompt tokens, as in 0.12",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric that a target may name.

    Parameters
    ----------
    name, title
        The name on the command line, and the title in reports.
    unit
        The unit of the target's limit.
    quantile
        The quantile of the times to first token; None for all other metrics.
    """

    name: str
    title: str
    unit: Unit
    quantile: float | None = None

    @property
    def less_is_better(self) -> bool:
        """Whether the target is an upper limit."""
        return self.unit in {"seconds", "dollars"}

    @property
    def needs_clock(self) -> bool:
        """Whether it depends on when requests end, which the instant server does not tell."""
        return self.unit in {"rate", "dollars"}

    def shown(self, value: float) -> str:
        """Return a value of the metric with its unit."""
        if not isfinite(value):
            return "not served"
        if self.unit == "seconds":
            return format_seconds(value)
        if self.unit == "share":
            return f"{100 * value:.3g} %"
        if self.unit == "rate":
            return f"{value:.3g} requests/s"
        return f"${value:.3g} per million prompt tokens"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("p99_ttft", "P99 time to first token", "seconds", 0.99),
        Metric("p95_ttft", "P95 time to first token", "seconds", 0.95),
        Metric("p90_ttft", "P90 time to first token", "seconds", 0.9),
        Metric("p50_ttft", "median time to first token", "seconds", 0.5),
        Metric("mean_ttft", "mean time to first token", "seconds"),
        Metric("token_hit_rate", "token hit rate", "share"),
        Metric("throughput", "throughput", "rate"),
        Metric("cost", "cost", "dollars"),
    )
}


def metric_named(name: str, place: str = "metric") -> Metric:
    """Return the metric of a name; besides those of METRICS any percentile, as in "p99.9_ttft".

    Raises
    ------
    UsageError
        For an unknown name, or a percentile that is none.
    """
    match = _PERCENTILE.fullmatch(name)
    if match is not None:
        percentile = percentile_name(match[1], place)
        name = f"{percentile}_ttft"
    if name in METRICS:
        return METRICS[name]
    if match is None:
        plain = name.lower()
        known = [*METRICS, *([plain] if _PERCENTILE.fullmatch(plain) else [])]
        hint = f"{did_you_mean(plain, known)} (any percentile will do, as in p99.9_ttft)"
        raise UsageError(f"{place}: unknown metric '{printable(name)}'{hint}")
    title = f"{percentile.upper()} time to first token"
    return Metric(name, title, "seconds", level_of(percentile))


@dataclass(frozen=True, slots=True)
class Target:
    """A metric and its limit, in seconds, a share, requests per second or dollars."""

    metric: Metric
    limit: float

    @property
    def sign(self) -> str:
        """The direction, "<=" or ">="."""
        return "<=" if self.metric.less_is_better else ">="

    @property
    def text(self) -> str:
        """The target in words."""
        return f"{self.metric.title} {self.sign} {self.metric.shown(self.limit)}"

    @property
    def worst(self) -> float:
        """The value that is worse than every other."""
        return inf if self.metric.less_is_better else -inf

    def rank(self, value: float | None) -> tuple[bool, float]:
        """Return a sort key that is smaller for better values; a value of None is the worst."""
        sign = 1 if self.metric.less_is_better else -1
        return value is None, 0.0 if value is None else sign * value

    def met(self, value: float) -> bool:
        """Say whether a value meets the target."""
        return value <= self.limit if self.metric.less_is_better else value >= self.limit


def parse_target(text: str) -> Target:
    """Return the target of "p99_ttft<=800ms", "token_hit_rate>=40%", "cost<=0.12", ...

    Raises
    ------
    UsageError
        For an unknown metric, a limit on its wrong side, or one that is not a value of it.
    """
    place = f"--target {printable(text)}"
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"{place}: expected METRIC<=VALUE or METRIC>=VALUE, as in p99_ttft<=800ms")
    name, sign, value = match.groups()
    metric = metric_named(name, place)
    target = Target(metric, _limit(metric, value, place))
    if sign != target.sign:
        better = "less" if target.metric.less_is_better else "more"
        raise UsageError(f"{place}: expected {target.sign}, as {better} is better, found {sign}")
    return target


def unit_notes(texts: Sequence[str]) -> list[str]:
    """Return how limits are taken that state no unit: those below 1, which can only be seconds."""
    notes = []
    for text in texts:
        match, target = _FORM.fullmatch(text), parse_target(text)
        if match and target.metric.unit == "seconds" and _NUMBER.fullmatch(match[3]):
            taken = format_seconds(target.limit)
            notes.append(f"--target {printable(text)}: no unit is stated: taken as {taken}")
    return notes


def only_target(texts: Sequence[str]) -> Target:
    """Return the target that was stated, each being read before several are refused.

    Raises
    ------
    UsageError
        As `parse_target` says, and for more than one.
    """
    targets = [parse_target(text) for text in texts]
    if len(targets) == 1:
        return targets[0]
    stated = " and ".join(printable(text) for text in texts)
    advice = "ask for each by itself"
    if len({target.metric.name for target in targets}) == 1:
        limits = [target.limit for target in targets]
        strictest = min(limits) if targets[0].metric.less_is_better else max(limits)
        advice = f"the strictest says all: {printable(texts[limits.index(strictest)])}"
    raise UsageError(f"--target: expected one, found {len(targets)} ({stated}): {advice}")


def _limit(metric: Metric, text: str, place: str) -> float:
    """Return the limit, above 0."""
    if metric.unit == "seconds":
        if _NUMBER.fullmatch(text) and float(text) >= 1:
            raise UsageError(
                f"{place}: expected a time with its unit, found '{printable(text)}': did you mean "
                f"'{text}ms' or '{text}s'?"
            )
        seconds = parse_seconds(text, f"{place}: limit")
        if seconds <= 0:
            raise UsageError(f"{place}: expected a time above 0, found '{printable(text)}'")
        return seconds
    suffix = _SUFFIXES[metric.unit]
    match = re.fullmatch(rf"\$?({_NUMBER.pattern}){suffix}", text, re.ASCII)
    limit = float(match[1]) / (100 if match[2] == "%" else 1) if match else 0.0
    if not 0 < limit <= (1.0 if metric.unit == "share" else 1e9):
        raise UsageError(f"{place}: expected {_EXPECTED[metric.unit]}, found '{printable(text)}'")
    return limit
