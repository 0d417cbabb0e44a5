"""The section of one world: its answer, key numbers, charts, and the table of its cells.

A world is the workload, profile and server that the compared policies share.
"""

from __future__ import annotations

from reports.charts.bars import fates_of
from reports.charts.over_time import TimeAxis, blocks_of
from reports.charts.positions import storing
from reports.pages.study.answer import answer, key_numbers
from reports.pages.study.panels import WorldPanels
from reports.pages.study.table import cells_table
from reports.report import (
    Code,
    Key,
    Listing,
    Panels,
    Range,
    ReportBlock,
    Section,
    Sentence,
    Terms,
    coded,
)
from reports.report.packing import short
from reports.results.points import WorldPoints
from reports.words import sentence

MOST_ROWS = 1000  # in all tables of a page together
MOST_FOLLOWED = 48  # series per page whose losses and bytes over time can be drawn

_SVG_SHAPES = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "square": "M-4,-4h8v8h-8Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "diamond": "M0,-5L5,0L0,5L-5,0Z",
    "cross": "M-1.7,-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
}


def world_section(number: int, world: WorldPoints, worlds: int) -> Section:
    """Return the section of one world: the workload, profile and server that policies share.

    Parameters
    ----------
    number
        Index of the world in the study, from 0.
    world
        Its points.
    worlds
        The number of worlds on the page, which share its limits on rows and series.
    """
    text, like = answer(world)
    id = f"world-{number + 1}"
    return Section(
        id=id,
        name=world.name,
        answer=text,
        also=like,
        numbers=key_numbers(world),
        keys=keys_of(world),
        more_keys=len(world.series) - len(world.shown.series),
        lit=True,
        blocks=(
            *_charts(number, world, MOST_FOLLOWED // worlds),
            cells_table(world, id, MOST_ROWS // worlds),
        ),
    )


def _charts(number: int, world: WorldPoints, followed: int) -> list[ReportBlock]:
    """Return the charts by group; groups without charts are left out."""
    panels = WorldPanels(number, world, followed)
    blocks: list[ReportBlock] = [
        Panels(title="Savings and latency", panels=tuple(panels.savings())),
        Panels(title="Why the rest was computed again", panels=tuple(panels.losses())),
    ]
    if positions := tuple(panels.positions()):
        heading = "Where the states are"
        blocks += [
            Panels(title=heading, id=f"world-{number + 1}-positions", panels=positions),
            Listing(
                title="In words, and the nearest setting of an engine (first replication)",
                items=position_words(world, followed),
                folded=True,
                on_terminal=False,
            ),
        ]
    if (time := _range(world)) is not None:
        rate = tuple(panels.rate_over_time())
        blocks += [
            Panels(title="Over time", id=f"world-{number + 1}-time", panels=rate, range=time),
            Panels(panels=tuple(panels.of_the_best())),
        ]
    blocks = [block for block in blocks if not isinstance(block, Panels) or block.panels]
    if blocks and number == 0:
        blocks.append(
            Terms(
                title="What the causes mean",
                items=[(fate.name, fate.meaning) for fate in fates_of(world.points.values())],
                folded=True,
                on_terminal=False,
            )
        )
    return blocks


def position_words(world: WorldPoints, most: int) -> list[tuple[Sentence, Sentence]]:
    """Return for each series where it stores states, and the engine setting nearest to that.

    The stored words begin with the placer, which is replaced here by the name of the series.
    """
    items: list[tuple[Sentence, Sentence]] = []
    for point in storing(world.shown)[: max(most, 2)]:
        row, marks = point.rows[0], point.series.label.removeprefix(point.series.name)
        if words := row.get("positions_words"):
            rest = words.removeprefix("`").partition("`")[2]
            nearest = row.get("positions_nearest") or ""
            items.append(
                (
                    (Code(point.series.name), *coded(f"{marks}{rest}.")),
                    coded(nearest and sentence(nearest)),
                )
            )
    return items


def _range(world: WorldPoints) -> Range | None:
    row = blocks_of(world.best, []) if world.best else None
    if row is None:
        return None
    clock = TimeAxis.of(row, warmed=world.warmed)
    times = clock.times(row)
    return Range(0 if clock.warmup else short(times[0]), short(times[-1]), clock.unit)


def keys_of(world: WorldPoints) -> tuple[Key, ...]:
    """Return the legend; a policy drawn in place of others with equal results names them."""
    shown = {series.name: series for series in world.shown.series}
    return tuple(
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
    )
