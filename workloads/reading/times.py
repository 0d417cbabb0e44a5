"""Times in files: numbers, and dates in ISO 8601 or, without a time zone, as Azure writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from simulator.base.errors import printable

DATE_TICKS_PER_SECOND = 1e9  # nanoseconds

_TICKS = 1_000_000_000
_TEN_YEARS = 3652 * 86400 * _TICKS
_DIGITS = 9  # decimals of a second
_EPOCH = datetime(1970, 1, 1)
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{0,30})?([eE][+-]?\d{1,4})?", re.ASCII)
_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):?([0-5]\d))?",
    re.ASCII,
)


Written = msgspec.Raw  # a time in JSON that may be a number or a date
UNWRITTEN = msgspec.Raw(b"null")
OTHER_THINGS = {b"{", b"[", b"t", b"f"}  # first characters of objects, arrays and booleans


def number_or_date(written: Written) -> int | Decimal | str | None:
    """Return a JSON value as an exact number, also if it is quoted, or as text; None for null.

    Raises
    ------
    msgspec.ValidationError
        For a value of another type.
    """
    text = bytes(written)
    if text == b"null":
        return None
    if text[:1] != b'"':
        return msgspec.json.decode(text, type=int | Decimal)
    quoted = msgspec.json.decode(text, type=str)
    number = number_in(quoted)
    return quoted if number is None else number


def number_in(text: str) -> Decimal | None:
    """Return the number written in a text, None if it is something else."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def parse_time(text: str) -> tuple[int, bool]:
    """Parse a date and time such as `2023-11-16 18:17:03.9799600` or `2026-06-01T05:40:20.151Z`.

    Returns
    -------
    Nanoseconds since 1970, and whether the text has a time zone; UTC is assumed where it has
    none, which does not affect differences between times of one zone.

    Raises
    ------
    ValueError
        For a text of another form, or a date that does not exist.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(_expected(text))
    day, time, fraction, utc, sign, hours, minutes = match.groups()
    try:
        since = datetime.fromisoformat(f"{day} {time}") - _EPOCH
    except ValueError:
        raise ValueError(_expected(text)) from None
    if sign:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        since -= offset if sign == "+" else -offset
    ticks = (since.days * 86400 + since.seconds) * _TICKS
    return ticks + int((fraction or "0").ljust(_DIGITS, "0")[:_DIGITS]), bool(utc or sign)


def _expected(text: str) -> str:
    shown = printable(text, 40)
    return f"expected a time like 2024-05-31 23:59:59.1234567 or with T and a zone, found '{shown}'"


@dataclass(slots=True)
class DateClock:
    """Dates of one file as nanoseconds since ten years before its first date.

    This way no time is negative, even before 1970.
    """

    first: int | None = None
    zoned: bool | None = None

    def ticks(self, text: str) -> int:
        """Return a date as nanoseconds.

        Raises
        ------
        ValueError
            For an invalid date, one more than ten years from the first, or one with a time zone
            where the first has none, or the reverse.
        """
        ticks, zoned = parse_time(text)
        if self.first is None:
            self.first, self.zoned = ticks, zoned
        if zoned != self.zoned:
            detail = "found one here" if zoned else "found none here"
            raise ValueError(f"expected a zone on every line or on none, {detail}")
        since = ticks - self.first + _TEN_YEARS
        if not 0 <= since <= 2 * _TEN_YEARS:
            shown = printable(text, 40)
            raise ValueError(f"expected a date within ten years of the first, found '{shown}'")
        return since
