"""The section of a study's page that compares policies across all of its worlds.

A world is the workload, profile and server that policies share; the room is what foresight saves
more than the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.charts.rows import IntervalRow, intervals
from reports.cross_workload.overview import Overview, Taken
from reports.cross_workload.sentences import (
    MEASURES,
    place_words,
    rank_words,
    sentences,
    share_words,
)
from reports.pages.study.world import keys_of
from reports.report import Panel, Panels, Section, Table
from reports.results.points import MOST_SERIES, WorldPoints
from reports.words import known

MOST_COLUMNS = 8
MOST_ROWS = 500


def together(worlds: Sequence[WorldPoints], overview: Overview) -> Section | None:
    """Return the section that compares policies across worlds.

    A world is the workload, profile and server that policies share. None for a single world
    without policies that look ahead.
    """
    if len(worlds) < 2 and not any(s.marks for world in worlds for s in world.series):
        return None
    several = len(worlds) > 1
    if not several and not overview.taken:
        return None
    panels = [*_ranks(overview, worlds), *_room(overview, worlds)]
    heading = "Ranks, and how near to foresight" if several else "How near to foresight"
    answer, *also = sentences(overview, worlds) or ["There is nothing to compare."]
    return Section(
        id="across",
        name="All workloads together" if several else "Against foresight",
        answer=answer,
        also=tuple(also),
        keys=keys_of(worlds[0]) if several and panels else (),
        lit=True,
        blocks=(
            *([Panels(title=heading, panels=tuple(panels))] if panels else []),
            *_rank_table(overview, worlds),
            *_room_table(overview, worlds),
        ),
    )


def _ranks(overview: Overview, worlds: Sequence[WorldPoints]) -> Iterator[Panel]:
    """Yield a chart of mean ranks for each metric, where there are several worlds."""
    colours = _colours(worlds)
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
        names = ranking.left_out
        left_out = f" {len(names)} did not finish everywhere and have none." if names else ""
        yield Panel(
            f"across-ranks-{ranking.metric.replace('_', '-')}",
            f"Mean rank by {MEASURES[ranking.metric]}",
            f"1 is the best; over {place_words(ranking)}, each workload weighing the same. Bars: "
            "the ranks that 95 % confidence allows, all at once, for these workloads "
            f"({ranking.pairs} pairs compared, Holm's correction). What looks ahead or is an upper "
            f"bound has no rank.{left_out}",
            intervals(rows, "Mean rank; 1 is best", least=1.0),
        )


def _room(overview: Overview, worlds: Sequence[WorldPoints]) -> Iterator[Panel]:
    """Yield a chart of how much of the room each policy saves at the focus capacity."""
    colours, shares = _colours(worlds), _shares(overview, worlds)
    shown = _drawn_shares(shares, worlds)
    if not shown:
        return
    left_out = len(shares) - len(shown)
    rows = [_room_row(each, colours, with_world=len(worlds) > 1) for each in shown]
    yield Panel(
        "across-room",
        "How near to foresight",
        "0 %: the baseline. 100 %: the best policy that looks ahead, at the same capacity. Token "
        "hit rate, paired; bars: 95 % intervals. Below zero: worse than the baseline."
        + (f" {left_out} more are in the table." if left_out else ""),
        intervals(rows, "Share of the room (%)", zero=0.0),
    )


def _shares(overview: Overview, worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return the shares of the room at the focus capacity of each world, the best first in each."""
    focus = {(world.name, world.focus) for world in worlds}
    known = [t for t in overview.taken if t.share and (t.world, t.capacity) in focus]
    return sorted(known, key=lambda t: (t.world, -(t.share.value if t.share else 0.0)))


def _drawn_shares(shares: Sequence[Taken], worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return the shares that fit in a chart; of policies with equal results only the first."""
    alike = {(w.name, name) for w in worlds for names in w.alike.values() for name in names}
    if len(shares) > MOST_SERIES:
        shares = [each for each in shares if (each.world, each.policy) not in alike]
    return [*shares[:MOST_SERIES]]


def _room_row(taken: Taken, colours: dict[str, str], *, with_world: bool) -> IntervalRow:
    share = taken.share
    assert share is not None
    where = f"{taken.world}, {taken.capacity}" if with_world else taken.capacity
    return IntervalRow.of(
        (taken.policy, f"{taken.policy} ({where})"),
        (share.value, share.low, share.high),
        0.01,
        share_words(taken),
        colours[taken.policy],
    )


def _colours(worlds: Sequence[WorldPoints]) -> dict[str, str]:
    return {name: look.colour for world in worlds for name, look in world.looks.items()}


def _rank_table(overview: Overview, worlds: Sequence[WorldPoints]) -> list[Table]:
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
            ranks.append(known(other, rank_words))
        ranks += [known(each.by_world.get(name), "{:.1f}".format) for name in names]
        rows.append((each.series.name, *ranks))
    what = MEASURES[overview.rankings[0].metric]
    title = f"Mean ranks; in each workload by {what}" if names else "Mean ranks"
    return [Table(id="across-rank-table", title=title, head=head, rows=rows, on_terminal=False)]


def _room_table(overview: Overview, worlds: Sequence[WorldPoints]) -> list[Table]:
    """Return a table of shares of the room: a row per policy, a column per world and capacity."""
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
    return [Table(id="across-room-table", title=title, head=head, rows=rows, on_terminal=False)]
