"""One section of the page for each world: answer, four numbers, panels, table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reports.charts import world_charts
from reports.charts.bars import FATES_IN_ORDER
from reports.charts.occupancy import KINDS
from reports.page.answer import Number, Part, answer, four_numbers
from reports.page.document import bare
from reports.page.table import HEADINGS, Cell, table
from reports.palette import FATES, GREY, looks
from reports.points import World, subjects

MOST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: the element's id, what stands above and below it, the specification."""

    id: str
    title: str
    caption: str
    specification: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend; `dash` and `shape` are SVG."""

    name: str
    colour: str
    dash: str
    shape: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """What the template shows of one world."""

    id: str
    name: str
    focus: str
    answer: list[Part]
    tied: str
    numbers: list[Number]
    keys: list[Key]
    more_keys: int
    fates: list[tuple[str, str, str]]
    held: list[tuple[str, str]]
    panels: dict[str, Panel]
    headings: tuple[tuple[str, str], ...]
    rows: list[list[Cell]]
    more_rows: int


_SVG_SHAPES = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "square": "M-4,-4h8v8h-8Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "diamond": "M0,-5L5,0L0,5L-5,0Z",
    "cross": "M-1.7,-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
}


def section(number: int, world: World) -> Section:
    """Return what the template shows of a world."""
    text, tied = answer(world)
    rows = table(world)
    return Section(
        f"world-{number + 1}",
        world.name,
        world.focus,
        text,
        tied,
        four_numbers(world),
        _keys(world.shown),
        len(world.series) - len(world.shown.series),
        [(fate.name, FATES.get(fate.key, GREY), fate.meaning) for fate in FATES_IN_ORDER],
        list(KINDS.items()),
        _panels(number, world),
        HEADINGS,
        rows[:MOST_ROWS],
        max(0, len(rows) - MOST_ROWS),
    )


def _keys(world: World) -> list[Key]:
    styles = looks(subjects(world.series))
    return [
        Key(s.name, k.colour, " ".join(map(str, k.dash)), _SVG_SHAPES[k.shape], s.marks)
        for s, k in zip(world.series, styles, strict=True)
    ]


def _panels(number: int, world: World) -> dict[str, Panel]:
    titles = _titles(world)
    return {
        name: Panel(f"chart-{number + 1}-{name.replace('_', '-')}", *titles[name], bare(chart))
        for name, chart in world_charts(world).items()
    }


def _titles(world: World) -> dict[str, tuple[str, str]]:
    """Return title and caption of each chart."""
    best = world.best.series.name if world.best else ""
    theirs = world.baseline.get(best, best)
    paired = (
        f"Paired with {world.baseline_name} at {world.place}. Bars: 95 % intervals; "
        "“tied” where one covers zero."
    )
    held = "At the end of each block of consecutive requests that count, first replication."
    return {
        "pareto_savings": (
            "Savings for the memory used",
            "Saved share of prompt tokens against the bytes really held, mean over time; "
            "one point a capacity. Up and left is better.",
        ),
        "pareto_ttft": (
            "Latency for the memory used",
            "Mean time to first token against the bytes really held. Down and left is better.",
        ),
        "difference_hit_rate": ("Difference in token hit rate", paired),
        "difference_ttft": ("Difference in mean time to first token", paired),
        "capacity_curve": (
            "What capacity buys",
            "Token hit rate at each capacity. More memory can lower it: most policies promise "
            "nothing else. Dotted: what no policy can exceed.",
        ),
        "losses": (
            f"Where the prompt tokens went at {world.place}",
            "Every prompt token is counted once, at the first cause that explains it.",
        ),
        "occupancy": (f"Bytes held by {best} at {world.place}", held),
        "occupancy_baseline": (f"Bytes held by {theirs} at {world.place}", held),
    }
