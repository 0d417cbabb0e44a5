"""Words for differences of figures: "30 % longer", "rose from 48.0 % to 62.0 %"."""

from __future__ import annotations

from simulator.base.units import format_count, format_seconds

TWICE = 2.0


def change(apart: float, more: str, less: str, same: str) -> str:
    """Return "30 % MORE", "30 % LESS", or "2.4 times SAME" of a ratio b / a other than 1.

    `same` is such as "as long".
    """
    if apart >= TWICE:
        return f"{_times(apart)} times {same}"
    percent = 100 * abs(apart - 1)
    shown = f"{percent:.0f}" if percent >= 9.5 else f"{percent:.2g}"
    return f"{shown} % {more if apart > 1 else less}"


def _times(apart: float) -> str:
    return f"{apart:,.0f}" if apart >= 99.5 else f"{apart:.3g}"


def arrow(a: float, b: float, unit: str) -> str:
    """Return "(2,100 -> 2,730 tokens)"."""
    if unit == "seconds":
        return f"({format_seconds(a)} -> {format_seconds(b)})"
    if unit in {"tokens", "requests"}:
        return f"({count(a)} -> {count(b)} {unit})"
    return f"({figure(a)} -> {figure(b)}{' ' if unit else ''}{unit})"


def with_unit(value: float, unit: str) -> str:
    """Return a figure with its unit."""
    if unit == "seconds":
        return format_seconds(value)
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit in {"tokens", "requests"}:
        return f"{count(value)} {unit}"
    return f"{figure(value)} {unit}".rstrip()


def count(value: float) -> str:
    """Return a count: to the last digit below a million, then three digits, as in "13.6 M"."""
    for letter, size in (("G", 1e9), ("M", 1e6)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {letter}"
    return format_count(value)


def figure(value: float) -> str:
    """Return three digits."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def moved(a: float, b: float) -> str:
    """Return "rose from 48.0 % to 62.0 %" of shares."""
    one, other = f"{100 * a:.1f} %", f"{100 * b:.1f} %"
    if one == other:
        return f"stayed at {one}"
    return f"{'rose' if b > a else 'fell'} from {one} to {other}"
