"""Rendering of blocks from templates and figures, in the project's number formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta

from reports.pages.drift.sentences import percent, points
from reports.results.pools import LOSS_WORDS
from reports.statistics import Estimate
from simulator.base.units import format_bytes, format_count, format_seconds

TEMPLATES = Path(__file__).parent / "templates"
UNKNOWN = " (no interval)"  # in the project's formats; templates give the reason in their own words


def rendered(template: str, figures: Mapping[str, Any]) -> list[str]:
    """Return the lines of a block."""
    text = environment().get_template(template).render(**figures)
    return text.strip("\n").split("\n")


def parts_of(template: str) -> set[str]:
    """Return the names of the parts whose figures a template shows."""
    source = (TEMPLATES / template).read_text(encoding="utf-8")
    names = meta.find_undeclared_variables(environment().parse(source))
    return set(names) - set(environment().globals)


@cache
def environment() -> Environment:
    """Return the Jinja environment of all templates."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "percent": _percent,
        "points": _points,
        "interval": _interval,
        "ends": lambda figure: _interval(figure).partition(" ")[2],
        "opposite": _opposite,
        "loss": LOSS_WORDS.__getitem__,
        "rows": _rows,
        "ratio": lambda rates, other, at: rates[at] / other[at],
        "best_at": lambda rates, at: max(each[at] for each in rates.values()),
        "folded": lambda text, width, indent: fill(
            text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        ),
        "one": lambda share: f"{100 * value(share):.1f}",
        "gib": lambda size: f"{size / 2**30:.1f}",
        "size": format_bytes,
        "seconds": lambda time: format_seconds(value(time)),
        "count": format_count,
        "dot": lambda share: f"{share:.2f}".removeprefix("0"),
        "tenths": lambda points: f"{round(points, 1) + 0.0:.1f}",  # no -0.0
        "tenth": lambda share: f"{share:.1f}".removeprefix("0"),
        "dots": lambda share: f"{share:.3f}".removeprefix("0"),
    }
    return made


def value(figure: Any) -> float:
    """Return the value of an estimate, or a plain number."""
    return float(figure["value"] if isinstance(figure, Mapping) else figure)


def _estimate(figure: Any) -> Estimate:
    if not isinstance(figure, Mapping):
        return Estimate(float(figure))
    return Estimate(figure["value"], figure["low"], figure["high"])


def _percent(figure: Any) -> str:
    """Return "60.6 %" for a share, "98.1 % [97.8, 98.3]" for one with an interval."""
    return percent(_estimate(figure)).removesuffix(UNKNOWN)


def _points(figure: Any) -> str:
    """Return "10.7 points [7.8, 13.6]", or without an interval "10.7 points"."""
    return points(_estimate(figure)).removesuffix(UNKNOWN)


def _interval(figure: Any) -> str:
    """Return "6.8 [5.5, 8.0]", or without an interval "6.8"."""
    return _points(figure).replace(" points", "")


def _opposite(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return a difference with its sign reversed."""
    turned = _estimate(figure).opposite
    return {"value": turned.value, "low": turned.low, "high": turned.high}


def _rows(rates: Sequence[tuple[str, Mapping[str, float]]]) -> list[str]:
    """Return a table row for each label with its rates; the best of each column is bold."""
    shown = [[f"{100 * rate:.1f} %" for rate in each.values()] for _, each in rates]
    best = [max(column, key=lambda text: float(text[:-2])) for column in zip(*shown, strict=True)]
    for row in shown:
        row[:] = [
            f"**{each}**" if each == top else each for each, top in zip(row, best, strict=True)
        ]
    return [
        f"| {label} | {' | '.join(row)} |" for (label, _), row in zip(rates, shown, strict=True)
    ]
