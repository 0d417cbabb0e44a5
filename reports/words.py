"""Formatting of figures and lists that several reports share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from simulator.base.units import format_bytes, format_seconds

Value = TypeVar("Value")


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return a text with a capital first letter and a full stop at its end."""
    return f"{capital(text).rstrip('.')}."


def all_of(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def first_of(names: Sequence[str], most: int = 6) -> str:
    """Return the first names, and how many more there are: "a, b and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def number_of(count: int, noun: str) -> str:
    """Return a count of what a noun names, as in "1 place" and "1,200 places"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def capacity_words(size_bytes: float | None) -> str:
    """Return a capacity; None is unbounded."""
    return "unbounded" if size_bytes is None else format_bytes(size_bytes)


def known(value: Value | None, shown: Callable[[Value], str]) -> str:
    """Return a value as text, "n/a" where there is none."""
    return "n/a" if value is None else shown(value)


def percent(share: float) -> str:
    """Return a share as "37.4 %"."""
    return f"{100 * share:.1f} %"


def share(part: float, whole: float) -> str:
    """Return a share with its numerator and denominator, "n/a" where the latter is 0."""
    shown = f"{100 * part / whole:.1f} %" if whole else "n/a"
    return f"{shown} ({part:,.0f} / {whole:,.0f})"


def signed_seconds(seconds: float) -> str:
    """Return a difference of times with its sign, as in "+12 ms"."""
    return ("+" if seconds >= 0 else "") + format_seconds(seconds)
