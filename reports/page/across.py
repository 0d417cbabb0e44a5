"""The part of a study's page that looks at all of its workloads together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from reports.charts.intervals import IntervalRow, intervals
from reports.charts.theme import CONFIG
from reports.cross_workload.overview import Overview, overview_of
from reports.cross_workload.ranking import Ranking
from reports.cross_workload.room import Taken
from reports.cross_workload.sentences import (
    MEASURES,
    place_words,
    rank_words,
    sentences,
    share_words,
)
from reports.page.panel import Panel, described
from reports.page.sections import Key, keys_of
from reports.results.points import MOST_SERIES, WorldPoints

MOST_COLUMNS = 8
MOST_ROWS = 500


@dataclass(frozen=True, slots=True)
class AcrossTable:
    """A table: its id, what stands above it, heads and rows."""

    id: str
    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Across:
    """What the template shows."""

    title: str
    heading: str
    sentences: list[str]
    panels: list[Panel]
    tables: list[AcrossTable]
    keys: list[Key]
    specifications: dict[str, Any]


def across_section(worlds: Sequence[WorldPoints]) -> Across | None:
    """Return the section; None for a single world in which nothing looks ahead."""
    if len(worlds) < 2 and not any(s.marks for world in worlds for s in world.series):
        return None
    overview = overview_of(worlds)
    if len(worlds) < 2 and not overview.taken:
        return None
    drawn = _drawn(overview, worlds)
    panels = [panel for panel in _panels(overview, worlds) if panel.id in drawn]
    tables = [*_rank_table(overview, worlds), *_room_table(overview, worlds)]
    several = len(worlds) > 1
    title = "All workloads together" if several else "Against foresight"
    heading = "Ranks, and how near to foresight" if several else "How near to foresight"
    return Across(
        title,
        heading,
        sentences(overview, worlds),
        panels,
        tables,
        keys_of(worlds[0]) if several else [],
        described(drawn, panels),
    )


def across_charts(worlds: Sequence[WorldPoints]) -> dict[str, alt.LayerChart]:
    """Return the charts of the section as images that stand alone; none where there is none."""
    if across_section(worlds) is None:
        return {}
    overview = overview_of(worlds)
    titles = {panel.id: panel.title for panel in _panels(overview, worlds)}
    charts = _drawn(overview, worlds)
    for name, chart in charts.items():
        chart.title = titles[name]
        chart.config = alt.Config(**CONFIG)
    return charts


def _drawn(overview: Overview, worlds: Sequence[WorldPoints]) -> dict[str, alt.LayerChart]:
    return {**_rank_charts(overview, worlds), **_room_chart(overview, worlds)}


def _panels(overview: Overview, worlds: Sequence[WorldPoints]) -> list[Panel]:
    ranks = [
        Panel(
            _rank_id(ranking),
            f"Mean rank by {MEASURES[ranking.metric]}",
            f"1 is the best; over {place_words(ranking)}, each workload weighing the same. Bars: "
            "the ranks that 95 % confidence allows, all at once, for these workloads "
            f"({ranking.pairs} pairs compared, Holm). What looks ahead or is an upper bound has no "
            f"rank.{_left_out(ranking)}",
        )
        for ranking in overview.rankings
    ]
    shares = _shares(overview, worlds)
    left_out = len(shares) - len(_drawn_shares(shares, worlds))
    room = Panel(
        "across-room",
        "How near to foresight",
        "0 %: the baseline. 100 %: the best policy that looks ahead, at the same capacity. Token "
        "hit rate, paired; bars: 95 % intervals. Below zero: worse than the baseline."
        + (f" {left_out} more are in the table." if left_out else ""),
    )
    return [*ranks, room]


def _left_out(ranking: Ranking) -> str:
    names = ranking.left_out
    return f" {len(names)} did not finish everywhere and have none." if names else ""


def _rank_id(ranking: Ranking) -> str:
    return f"across-ranks-{ranking.metric.replace('_', '-')}"


def _rank_charts(overview: Overview, worlds: Sequence[WorldPoints]) -> dict[str, alt.LayerChart]:
    colours = _colours(worlds)
    charts = {}
    for ranking in overview.rankings if len(worlds) > 1 else ():
        rows = [
            IntervalRow(
                each.series.name,
                each.series.label,
                each.rank,
                each.low,
                each.high,
                rank_words(each),
                colours[each.series.name],
            )
            for each in ranking.ranked[:MOST_SERIES]
        ]
        charts[_rank_id(ranking)] = intervals(rows, "Mean rank; 1 is best", least=1.0)
    return charts


def _room_chart(overview: Overview, worlds: Sequence[WorldPoints]) -> dict[str, alt.LayerChart]:
    """Draw the shares of the room at the focus of each world."""
    colours = _colours(worlds)
    shown = _drawn_shares(_shares(overview, worlds), worlds)
    rows = [_room_row(each, colours, with_world=len(worlds) > 1) for each in shown]
    if not rows:
        return {}
    return {"across-room": intervals(rows, "Share of the room (%)", zero=0.0)}


def _shares(overview: Overview, worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return what is known of the room at the focus of each world, the best of each first."""
    focus = {(world.name, world.focus) for world in worlds}
    known = [t for t in overview.taken if t.share and (t.world, t.capacity) in focus]
    return sorted(known, key=lambda t: (t.world, -(t.share.value if t.share else 0.0)))


def _drawn_shares(shares: Sequence[Taken], worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return those that a chart has room for; of policies that are alike, the first."""
    alike = {(w.name, name) for w in worlds for names in w.alike.values() for name in names}
    if len(shares) > MOST_SERIES:
        shares = [each for each in shares if (each.world, each.policy) not in alike]
    return [*shares[:MOST_SERIES]]


def _room_row(taken: Taken, colours: dict[str, str], *, with_world: bool) -> IntervalRow:
    share = taken.share
    assert share is not None
    low = share.value if share.low is None else share.low
    high = share.value if share.high is None else share.high
    where = f"{taken.world}, {taken.capacity}" if with_world else taken.capacity
    return IntervalRow(
        taken.policy,
        f"{taken.policy} ({where})",
        100 * share.value,
        100 * low,
        100 * high,
        share_words(taken),
        colours[taken.policy],
    )


def _colours(worlds: Sequence[WorldPoints]) -> dict[str, str]:
    return {name: look.colour for world in worlds for name, look in world.looks.items()}


def _rank_table(overview: Overview, worlds: Sequence[WorldPoints]) -> list[AcrossTable]:
    if not overview.rankings or len(worlds) < 2:
        return []
    names = [world.name for world in worlds] if 1 < len(worlds) <= MOST_COLUMNS else []
    best = {each.series.name: each for each in overview.rankings[-1].ranked}
    head = ("Policy", *(f"By {MEASURES[r.metric]}" for r in overview.rankings), *names)
    rows = []
    for each in overview.rankings[0].ranked[:MOST_ROWS]:
        ranks = [rank_words(each)]
        if len(overview.rankings) > 1:
            other = best.get(each.series.name)
            ranks.append(rank_words(other) if other else "n/a")
        rows.append((each.series.name, *ranks, *(_rank(each.by_world.get(n)) for n in names)))
    what = MEASURES[overview.rankings[0].metric]
    title = f"Mean ranks; in each workload by {what}" if names else "Mean ranks"
    return [AcrossTable("across-rank-table", title, head, rows)]


def _rank(rank: float | None) -> str:
    return "n/a" if rank is None else f"{rank:.1f}"


def _room_table(overview: Overview, worlds: Sequence[WorldPoints]) -> list[AcrossTable]:
    """Return the shares of the room: a row a policy, a column a world at a capacity."""
    shares = {(t.world, t.capacity, t.policy): t for t in overview.taken}
    places = list(dict.fromkeys((t.world, t.capacity) for t in overview.taken))
    if len(places) > MOST_COLUMNS:
        focus = {(world.name, world.focus) for world in worlds}
        places = [place for place in places if place in focus][:MOST_COLUMNS]
    policies = list(dict.fromkeys(t.policy for t in overview.taken))[:MOST_ROWS]
    if not places or not policies:
        return []
    head = ("Policy", *(", ".join(filter(None, place)) for place in places))
    rows = [
        (
            name,
            *(
                share_words(shares[*place, name]) if (*place, name) in shares else ""
                for place in places
            ),
        )
        for name in policies
    ]
    title = "Share of the room between the baseline and what looks ahead"
    return [AcrossTable("across-room-table", title, head, rows)]
