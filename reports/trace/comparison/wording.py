"""Words for differences of figures: "30 % longer", "rose from 48.0 % to 62.0 %"."""

from __future__ import annotations

from simulator.base.units import format_count, format_seconds

TWICE = 2.0


def change(a: float, b: float, more: str, less: str, same: str) -> str:
    """Return "30 % MORE", "30 % LESS", "2.4 times SAME" or SAME; `same` is such as "as long"."""
    if a == b:
        return same
    if not a or not b:
        return more if b > a else less
    apart = b / a
    if apart >= TWICE:
        return f"{_figure(apart)} times {same}"
    percent = 100 * abs(apart - 1)
    shown = f"{percent:.0f}" if percent >= 9.5 else f"{percent:.2g}"
    return f"{shown} % {more if apart > 1 else less}"


def arrow(a: float, b: float, unit: str) -> str:
    """Return "(2,100 -> 2,730 tokens)", or "(2,100 tokens)" where both values are equal."""
    if a == b:
        return f"({with_unit(b, unit)})"
    return f"({with_unit(a, unit).removesuffix(unit).rstrip()} -> {with_unit(b, unit)})"


def with_unit(value: float, unit: str) -> str:
    """Return a figure with its unit."""
    if unit == "seconds":
        return format_seconds(value)
    if unit == "share":
        return f"{100 * value:.1f} %"
    return f"{_count(value) if unit in {'tokens', 'requests'} else _figure(value)} {unit}".rstrip()


def moved(a: float, b: float, unit: str) -> str:
    """Return "rose from 48.0 % to 62.0 %", or "stayed at ..." where both values look the same."""
    before, now = with_unit(a, unit), with_unit(b, unit)
    if before == now:
        return f"stayed at {now}"
    return f"{'rose' if b > a else 'fell'} from {before} to {now}"


def _count(value: float) -> str:
    """Return a count in full below a million, otherwise with three digits, as in "13.6 M"."""
    for letter, size in (("G", 1e9), ("M", 1e6)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {letter}"
    return format_count(value)


def _figure(value: float) -> str:
    """Return a value with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
