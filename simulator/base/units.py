"""Parsing and formatting of sizes, times, shares and counts."""

from __future__ import annotations

import math
import re

from simulator.base.errors import UsageError, printable

LARGEST_BYTES = 2**60
LARGEST_SECONDS = 1e10  # some three centuries

_BYTE_UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTPE", 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTPE", 1)},
}
_SECOND_UNITS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")
_SHARE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(%?)\s*")
_LONGEST_TEXT = 64
BARE = re.compile(r"\s*[0-9]+(\.[0-9]*)?\s*")  # a number without a unit
LEAST_BARE_BYTES = 1 << 16  # less than one page of KV of any known model


def parse_bytes(value: str | float, what: str = "size") -> int:
    """Parse "8 GiB", "512MB", "1.5 kB" or a plain number into whole bytes.

    KiB to EiB are powers of 1024, kB to EB powers of 1000; case is ignored.

    Parameters
    ----------
    value
        The text or the number.
    what
        Name of the quantity, for error messages.

    Raises
    ------
    UsageError
        If it is not a size between 0 and 1 EiB (2**60 bytes).
    """
    expected = "a size such as '8 GiB', '512 MB' or a number of bytes"
    amount, unit = _split(value, what, expected, _BYTE_UNITS)
    # Digits alone stay integers: a float would lose the last bytes of a large size.
    number = int(amount) if amount.isdigit() else float(amount)
    size = number * _BYTE_UNITS[unit]
    if not size <= LARGEST_BYTES:
        raise UsageError(f"{what} {_shown(value)} is beyond the largest, 1 EiB (1024 PiB)")
    return round(size)


def parse_capacity(value: str | float, what: str = "capacity") -> int | None:
    """Parse a capacity into bytes, or None for "unbounded".

    Raises
    ------
    UsageError
        If it is neither "unbounded" nor a size that `parse_bytes` accepts.
    """
    if isinstance(value, str) and value.strip().lower() == "unbounded":
        return None
    try:
        return parse_bytes(value, what)
    except UsageError as error:
        raise UsageError(f"{error}; 'unbounded' sets no limit") from None


def refuse_bare(capacity_bytes: int | None, stated: str, place: str) -> None:
    """Reject a capacity without a unit that is smaller than any page of KV.

    Parameters
    ----------
    capacity_bytes
        The parsed capacity; None for unbounded.
    stated
        The text as the user wrote it.
    place
        The flag or key, for the error message.

    Raises
    ------
    UsageError
        If `stated` is a bare number below 64 KiB; the message suggests GiB.
    """
    small = capacity_bytes is not None and 0 < capacity_bytes < LEAST_BARE_BYTES
    if small and BARE.fullmatch(stated):
        raise UsageError(
            f"{place}: {capacity_bytes:,} bytes hold no KV; did you mean '{stated.strip()} GiB'? "
            "(0 is no cache)"
        )


def parse_seconds(value: str | float, what: str = "time") -> float:
    """Parse "800 ms", "2 min" or a plain number into seconds.

    The units are ns, us, ms, s, min and h.

    Raises
    ------
    UsageError
        If it is not a time between 0 and 1e10 seconds.
    """
    amount, unit = _split(value, what, "a time such as '800 ms' or '2 s'", _SECOND_UNITS)
    seconds = float(amount) * _SECOND_UNITS[unit]
    if not seconds <= LARGEST_SECONDS:
        raise UsageError(f"{what} {_shown(value)} is beyond the largest, 1e10 seconds")
    return seconds


def parse_share(value: str | float, what: str = "share") -> float:
    """Parse "1 %", "0.5%" or a plain number such as 0.01 into a fraction.

    Raises
    ------
    UsageError
        If it is neither.
    """
    match = _SHARE.fullmatch(str(value)) if len(str(value)) <= _LONGEST_TEXT else None
    if match is None:
        expected = "a share such as '1 %' or 0.01"
        raise UsageError(f"{what}: expected {expected}, found {_shown(value)}")
    return float(match[1]) / (100 if match[2] else 1)


def format_bytes(size_bytes: float) -> str:
    """Format a size with a fitting binary unit, such as "49.1 MiB"."""
    return _scaled(size_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))


def exact_bytes(size_bytes: int) -> str:
    """Format a size exactly, such as "8GiB"; `parse_bytes` returns the same number."""
    for unit in ("EiB", "PiB", "TiB", "GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % _BYTE_UNITS[unit] == 0:
            return f"{size_bytes // _BYTE_UNITS[unit]}{unit}"
    return f"{size_bytes}B"


def format_seconds(seconds: float) -> str:
    """Format a time with a fitting unit and three significant digits, such as "812 ms"."""
    if not math.isfinite(seconds):
        return "n/a"
    if seconds == 0:
        return "0 s"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= scale * 0.9995:
            return f"{_three_digits(seconds / scale)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns"


def format_count(count: float) -> str:
    """Format a whole number with thousands separators, such as "12,031"."""
    return f"{count:,.0f}" if math.isfinite(count) else "n/a"


def _split(
    value: str | float, what: str, expected: str, units: dict[str, int] | dict[str, float]
) -> tuple[str, str]:
    """Split a quantity into its digits and its unit, spelled as in `units`."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{what}: expected {expected}, found {_shown(value)}")
    text = value if isinstance(value, str) else _shown(value)
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        raise UsageError(f"{what}: expected {expected}, found {_shown(value)}")
    spelled = {unit.lower(): unit for unit in units}
    if match[2].lower() not in spelled:
        known = ", ".join(filter(None, units))
        raise UsageError(f"{what}: unknown unit '{match[2]}' in {_shown(value)}; expected {known}")
    return match[1], spelled[match[2].lower()]


def _shown(value: object) -> str:
    """Return `value` as text for an error message."""
    try:
        return printable(repr(value), 60)
    except ValueError:  # an integer of thousands of digits
        return "an absurd number"


def _scaled(amount: float, base: int, units: tuple[str, ...]) -> str:
    """Format `amount` in the largest of `units` in which it is at least one."""
    if not math.isfinite(amount):
        return "n/a"
    for unit in units[:-1]:
        if abs(amount) < base * 0.99995:
            return f"{amount:,.0f} {unit}" if unit == units[0] else f"{amount:.1f} {unit}"
        amount /= base
    return f"{amount:,.1f} {units[-1]}"


def _three_digits(amount: float) -> str:
    """Format `amount` with three significant digits and no exponent."""
    if abs(amount) >= 99.95:
        return f"{amount:,.0f}"
    return f"{amount:.1f}" if abs(amount) >= 9.995 else f"{amount:.2f}"
