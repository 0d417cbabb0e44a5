"""Plausibility of a file's time unit, judged by the traffic that it implies.

Nothing is guessed: times are read in the unit of the format or of `--time-unit`. If that gives
implausible traffic, a note says so and what the other units would give.

- Too fast: ten requests or more at over 200 a second, or with over 500,000 prompt tokens a second.
  A server of eight large GPUs computes some 100,000 tokens a second of a small model and starts
  some 50 requests; even with a cache that saves four fifths, traces stay below. Fewer requests may
  be a single burst.
- Too fast with fractions: above 50 a second, where most times are no whole milliseconds (micro-,
  nanoseconds). Clocks in such units give whole numbers; clocks in seconds give fractions.
- Too slow: less than one request an hour; or ten and more, at less than one in 10 minutes, or at
  less than one a minute for over 30 days. Only a single person's log is that slow.
- More than a year from the first to the last.
- Times that one unit places between the years 2015 and 2040 cannot do so in any other unit: then
  the unit is certain, and the traffic is not checked.

Dates, field names with a unit and times since the start of each session are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from simulator.base.units import format_seconds
from workloads.anomaly import Anomaly
from workloads.instants import TICKS_PER_SECOND, TimeUnit
from workloads.rows import Rows

MAX_RATE_PER_SECOND = 200.0
MAX_FRACTIONAL_RATE_PER_SECOND = 50.0
MAX_PROMPT_TOKENS_PER_SECOND = 500_000.0
MIN_RATE_PER_SECOND = 1 / 3600
MIN_RATE_OF_MANY_PER_SECOND = 1 / 600
MIN_RATE_FOR_MONTHS_PER_SECOND = 1 / 60
MONTH_SECONDS = 30 * 86400.0
YEAR_SECONDS = 366 * 86400.0
MANY = 10  # requests
EPOCH_SECONDS = 1_420_070_400.0, 2_208_988_800.0  # the years 2015 to 2039


@dataclass(frozen=True, slots=True)
class UnitReading:
    """The traffic that a file's times imply in one unit.

    Parameters
    ----------
    requests, prompt_tokens
        Totals over the file.
    first_seconds, span_seconds
        The earliest time, and the time from it to the last.
    fractional
        Whether at least half of the times are no whole numbers of the unit.
    """

    requests: int
    prompt_tokens: int
    first_seconds: float
    span_seconds: float
    fractional: bool = False

    @property
    def rate(self) -> float:
        """Requests per second."""
        return (self.requests - 1) / self.span_seconds

    @property
    def token_rate(self) -> float:
        """Prompt tokens per second."""
        return self.prompt_tokens / self.span_seconds

    def in_words(self) -> str:
        """Return the rates and the span as text."""
        rate = f"{_three(self.rate)} requests/s"
        if self.rate < MIN_RATE_OF_MANY_PER_SECOND:
            rate = f"one request in {_long(1 / self.rate)}"
        if self.token_rate > MAX_PROMPT_TOKENS_PER_SECOND:
            rate += f" and {_three(self.token_rate)} prompt tokens/s"
        return f"{rate} for {_long(self.span_seconds)}"

    def too_fast(self) -> bool:
        """Return whether no server could handle this traffic."""
        if self.fractional and self.requests > 2 and self.rate > MAX_FRACTIONAL_RATE_PER_SECOND:
            return True
        tokens = self.token_rate > MAX_PROMPT_TOKENS_PER_SECOND
        return self.requests >= MANY and (tokens or self.rate > MAX_RATE_PER_SECOND)

    def too_slow(self) -> bool:
        """Return whether this is too slow for traffic of a service."""
        many, span, rate = self.requests >= MANY, self.span_seconds, self.rate
        return (
            span > YEAR_SECONDS
            or rate < MIN_RATE_PER_SECOND
            or (many and rate < MIN_RATE_OF_MANY_PER_SECOND)
            or (many and rate < MIN_RATE_FOR_MONTHS_PER_SECOND and span > MONTH_SECONDS)
        )

    def since_1970(self) -> bool:
        """Return whether all times, as seconds since 1970, are from 2015 to 2039."""
        earliest, latest = EPOCH_SECONDS
        return earliest <= self.first_seconds <= self.first_seconds + self.span_seconds <= latest

    def scaled(self, by: float) -> UnitReading:
        """Return the reading of the same numbers in another unit."""
        first, span = self.first_seconds * by, self.span_seconds * by
        return replace(self, first_seconds=first, span_seconds=span, fractional=False)


def doubt(rows: Rows) -> str | None:
    """Return what is implausible about the unit of the times, or None."""
    asked = "time_unit" in rows.known_options and not rows.dated and not rows.laid_out
    units = [unit for unit, ticks in TICKS_PER_SECOND.items() if ticks == rows.ticks_per_second]
    if not asked or not units or len(rows.time_ticks) < 2:
        return None
    unit = units[0]
    here = UnitReading(
        requests=len(rows),
        prompt_tokens=int(rows.lengths().sum()),
        first_seconds=rows.time_ticks.first_seconds(),
        span_seconds=rows.time_ticks.span_seconds(),
        fractional=unit != "s" and rows.time_ticks.fractions(rows.ticks_per_second) >= 0.5,
    )
    return _doubt(here, unit) if here.span_seconds > 0 and not here.since_1970() else None


def note_doubt(rows: Rows) -> None:
    """Note what is implausible about the unit of the times."""
    sentence = doubt(rows)
    if sentence is not None:
        what = "implausible-times"
        rows.oddities[what] = Anomaly(what, len(rows), rows.line[0], sentence)


def _doubt(here: UnitReading, unit: TimeUnit) -> str | None:
    others = dict(_others(here, unit))
    epoch = next((name for name, traffic in others.items() if traffic.since_1970()), None)
    if epoch is not None:
        day = datetime.fromtimestamp(others[epoch].first_seconds, UTC).date()
        return (
            f"read as {unit}, they look like {epoch} since 1970 (from {day}): is the unit of time "
            f"right? with --time-unit {epoch}: {others[epoch].in_words()}"
        )
    if not (here.too_fast() or here.too_slow()):
        return None
    better = [
        f"with --time-unit {name}: {traffic.in_words()}"
        for name, traffic in others.items()
        if not traffic.too_fast() and not traffic.too_slow()
    ]
    fractions = f", with fractions of a {unit}" if here.fractional and here.too_fast() else ""
    asked = f"read as {unit}: {here.in_words()}{fractions}: is the unit of time right?"
    return f"{asked} {'; '.join(better)}".rstrip()


def _others(here: UnitReading, unit: TimeUnit) -> Iterator[tuple[TimeUnit, UnitReading]]:
    """Yield the readings in other units, the nearest unit first."""
    units = list(TICKS_PER_SECOND)
    at = units.index(unit)
    for other in sorted(units, key=lambda name: abs(units.index(name) - at)):
        if other != unit:
            yield other, here.scaled(TICKS_PER_SECOND[unit] / TICKS_PER_SECOND[other])


def _three(number: float) -> str:
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def _long(seconds: float) -> str:
    days = seconds / 86400
    if days < 2:
        return format_seconds(seconds)
    return f"{days:,.3g} days" if days < 2 * 366 else f"{_three(days / 365.25)} years"
