"""One section of the page for each world: answer, four numbers, panels, table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from reports.charts import world_charts
from reports.charts.bars import FATES_IN_ORDER, differences_at_focus, leading, occurring
from reports.charts.occupancy import KINDS, kinds_held
from reports.charts.over_time import TimeAxis, blocks_of
from reports.charts.positions import KIND_COLOURS, stored_kinds, storing
from reports.page.answer import Number, SentencePart, answer, four_numbers
from reports.page.document import bare
from reports.page.panel import Range
from reports.page.table import TableCell, has_pools, headings, table
from reports.page.tables import short
from reports.palette import FATES, GREY
from reports.results.points import WorldPoints
from reports.results.pools import LOSS_POOLS

MOST_ROWS = 1000  # of the tables of a page
MOST_FOLLOWED = 48  # series of a page whose losses and bytes over time can be drawn
MOST_PLAIN = 60  # rows that a table shows at once; of more, those at the focus


@dataclass(frozen=True, slots=True)
class SectionPanel:
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
    alike: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """What the template shows of one world."""

    id: str
    name: str
    focus: str
    answer: list[SentencePart]
    like: list[str]
    numbers: list[Number]
    keys: list[Key]
    more_keys: int
    fate_colours: list[tuple[str, str]]
    meanings: list[tuple[str, str]]
    held: list[tuple[str, str]]
    stored: list[tuple[str, str]]
    positions: list[tuple[str, str]]
    panels: dict[str, SectionPanel]
    headings: tuple[tuple[str, str], ...]
    rows: list[list[TableCell]]
    more_rows: int
    capacities: tuple[str, ...]
    range: Range | None


_SVG_SHAPES = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "square": "M-4,-4h8v8h-8Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "diamond": "M0,-5L5,0L0,5L-5,0Z",
    "cross": "M-1.7,-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
}


def section(number: int, world: WorldPoints, worlds: int) -> Section:
    """Return what the template shows of a world, which shares the page with all `worlds`."""
    text, like = answer(world)
    rows, more_rows = table(world, MOST_ROWS // worlds)
    return Section(
        f"world-{number + 1}",
        world.name,
        world.focus,
        text,
        like,
        four_numbers(world),
        keys_of(world),
        len(world.series) - len(world.shown.series),
        [(fate.name, FATES.get(fate.key, GREY)) for fate in occurring(world.at(world.focus))],
        meanings(world),
        [(kind, KINDS[kind]) for kind in kinds_held(world.at(world.focus))],
        [(kind, KIND_COLOURS[kind]) for kind in stored_kinds(storing(world.shown))],
        position_words(world, MOST_FOLLOWED // worlds),
        _panels(number, world, MOST_FOLLOWED // worlds),
        headings(world),
        rows,
        more_rows,
        world.capacities if len(world.capacities) > 1 and len(rows) > MOST_PLAIN else (),
        _range(world),
    )


def meanings(world: WorldPoints) -> list[tuple[str, str]]:
    """Return the causes and what they mean, with the pool that evicted where pools are split."""
    pools = LOSS_POOLS if has_pools(world) else {}
    return [
        (fate.name, fate.meaning + (f" (pool {pools[fate.key]})" if fate.key in pools else ""))
        for fate in FATES_IN_ORDER
    ]


def position_words(world: WorldPoints, most: int) -> list[tuple[str, str]]:
    """Return where policies store states in words, and the engine setting nearest to it."""
    rows = [point.rows[0] for point in storing(world.shown)[: max(most, 2)]]
    pairs = [(row.get("positions_words"), row.get("positions_nearest") or "") for row in rows]
    return [(words, nearest) for words, nearest in pairs if words]


def _range(world: WorldPoints) -> Range | None:
    row = blocks_of(world.best, []) if world.best else None
    if row is None:
        return None
    clock = TimeAxis.of(row, warmed=world.warmed)
    times = clock.times(row)
    return Range(0 if clock.warmup else short(times[0]), short(times[-1]), clock.unit)


def keys_of(world: WorldPoints) -> list[Key]:
    """Return the legend; a policy that stands for others with the same results names them."""
    shown = {series.name: series for series in world.shown.series}
    return [
        Key(
            s.name,
            look.colour,
            " ".join(map(str, look.dash)),
            _SVG_SHAPES[look.shape],
            s.marks,
            tuple(name for name in world.alike.get(s.name, ()) if name not in shown),
        )
        for s in shown.values()
        if any(p.rows for p in world.points.values() if p.series == s)
        if (look := world.looks[s.name])
    ]


def _panels(number: int, world: WorldPoints, followed: int) -> dict[str, SectionPanel]:
    titles, panels = _titles(world), {}
    for name, chart in world_charts(world, followed).items():
        title, caption = titles[name]
        id, spec = f"chart-{number + 1}-{name.replace('_', '-')}", bare(chart, schema=number == 0)
        panels[name] = SectionPanel(id, title, caption, spec)
    return panels


def _left_out(world: WorldPoints, metric: str) -> str:
    """Say how many differences only the table has, if any."""
    drawn = leading(differences_at_focus(world.shown, metric))
    left_out = len(differences_at_focus(world, metric)) - len(drawn)
    return f" {left_out} more are in the table." if left_out > 0 else ""


def _titles(world: WorldPoints) -> dict[str, tuple[str, str]]:
    """Return title and caption of each chart."""
    best = world.best.series.name if world.best else ""
    theirs = world.baseline.get(best, best)
    followed = Markup('<span data-follows="{0}">{0}</span>').format(best)
    paired = (
        f"Paired with {world.baseline_name} at {world.place}. Bars: 95 % intervals. "
        f"“Tied”: all of it within {world.margins.text}. “Unsure”: it covers zero, or leaves it "
        "out by what chance does among so many comparisons (Holm)."
    )
    warmup = " Grey: the warm-up, served but not counted." if world.warmed else ""
    held = f"At the end of each block of consecutive requests, first replication.{warmup}"
    split = f"Each step is a block of consecutive requests, first replication.{warmup}"
    octaves = "A bar is an octave, named by its nearer end, as thick as its share of the states."
    floored = "Measured from that point as floored to where states may lie. "
    lost, bytes_held = Markup("Prompt tokens under {} at {}"), Markup("Bytes held by {} at {}")
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
        "difference_hit_rate": (
            "Difference in token hit rate",
            paired + _left_out(world, "token_hit_rate"),
        ),
        "difference_ttft": (
            "Difference in mean time to first token",
            paired + _left_out(world, "ttft_seconds"),
        ),
        "capacity_curve": (
            "What capacity buys",
            "Token hit rate at each capacity. More memory can lower it: most policies promise "
            "nothing else. Dotted: what no policy can exceed.",
        ),
        "losses": (
            f"Where the prompt tokens went at {world.place}",
            "Every prompt token is counted once, at the first cause that explains it.",
        ),
        "positions": (
            f"Where states are stored at {world.place}",
            "The first that fits holds. “Where prompts diverge”: an earlier prompt had been seen "
            "to end or to diverge there, or this one did.",
        ),
        "positions_from_start": ("From the start", octaves),
        "positions_from_end": ("From the end of the prompt", floored + octaves),
        "positions_from_branch": (
            "From the branch",
            "Where the prompt left what had been prefilled before; its start, where it shares "
            "nothing. " + floored + octaves,
        ),
        "positions_by_label": (
            Markup("From the branch, by label, under {}").format(followed),
            "Labels that stored most states, first replication. " + floored + octaves,
        ),
        "rate_over_time": (f"Token hit rate over time at {world.place}", split),
        "losses_over_time": (lost.format(followed, world.place), split),
        "losses_over_time_baseline": (lost.format(theirs, world.place), split),
        "occupancy": (bytes_held.format(followed, world.place), held),
        "occupancy_baseline": (bytes_held.format(theirs, world.place), held),
    }
