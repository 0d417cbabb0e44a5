"""Checks of the values of common fields, and their error messages."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from simulator.base.errors import printable
from workloads.instants import TICKS_PER_SECOND, Ticks

MAX_TOKENS = 10**9  # of one prompt or output
MAX_TIME_SECONDS = 10**13  # admits times since 1970 even if read in the next coarser unit
OUR_DAYS_SECONDS = 2**32  # seconds since 1970 up to the year 2106
UNIT_ENDINGS = ("_s", "_ms", "_us", "_ns")

Problem = tuple[str | None, str]  # the field at fault, what was expected and found
MOST_LISTED = 12  # names of fields in a message

MISSING = "expected this field, found none"


def prompt_problem(field: str, tokens: int) -> Problem | None:
    """Return the first problem with the length of a prompt, or None."""
    if 1 <= tokens <= MAX_TOKENS:
        return None
    return field, f"expected 1 to {MAX_TOKENS:,} tokens, found {short(tokens)}"


def output_problem(field: str, tokens: int) -> Problem | None:
    """Return the first problem with the length of an answer, or None."""
    if 0 <= tokens <= MAX_TOKENS:
        return None
    return field, f"expected 0 to {MAX_TOKENS:,} tokens, found {short(tokens)}"


def time_problem(field: str, ticks: Ticks | None, ticks_per_second: float) -> Problem | None:
    """Return what is wrong with a time, None if nothing is; NaN and infinities are wrong."""
    if ticks is None:
        return None
    limit = MAX_TIME_SECONDS * int(ticks_per_second)
    if not (isinstance(ticks, Decimal) and ticks.is_nan()) and 0 <= ticks <= limit:
        return None
    asked = f"is it in another unit?{_unit_hint(field, ticks, ticks_per_second)}"
    return field, f"expected a time from 0 to {limit:g}, found {float(ticks):g}: {asked}"


def _unit_hint(field: str, ticks: Ticks, ticks_per_second: float) -> str:
    """Return a hint on the option `--time-unit` that would make a time a date up to 2106.

    Empty for a field whose name has a unit. Formats without the option have nanoseconds, the finest
    unit.
    """
    if field.endswith(UNIT_ENDINGS) or (isinstance(ticks, Decimal) and ticks.is_nan()):
        return ""
    for unit, per_second in TICKS_PER_SECOND.items():
        if per_second > ticks_per_second and 0 < ticks <= OUR_DAYS_SECONDS * int(per_second):
            return f" (--time-unit {unit})"
    return ""


def presence_problem(
    field: str, ticks: Ticks | None, *, first: bool, timed: bool
) -> Problem | None:
    """Return a problem where this row has a time and earlier ones have not, or the reverse."""
    if first or (ticks is not None) == timed:
        return None
    detail = "found none here" if ticks is None else "found one here and none before"
    return field, f"expected a time on every line or on none, {detail}"


def id_problem(field: str, ids: list[int]) -> Problem:
    """Return a problem with the first of `ids` that is not an integer of 64 bits."""
    at, wrong = next((at, key) for at, key in enumerate(ids) if not 0 <= key < 1 << 64)
    return f"{field}[{at}]", f"expected an integer from 0 to 2**64 - 1, found {short(wrong)}"


def listed(names: Sequence[str]) -> str:
    """Return the names for a message, or the first of many and the number of others."""
    shown = ", ".join(printable(name, 40) for name in names[:MOST_LISTED])
    more = len(names) - MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


def short(number: float) -> str:
    """Return a number for a message, shortened if it has many digits."""
    return printable(str(number), 40)
