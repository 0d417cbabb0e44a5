"""Sentences on the results over all workloads of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.charts.bars import explained
from reports.cross_workload.overview import Overview, Taken
from reports.cross_workload.ranking import RankedCombination, Ranking
from reports.results.points import WorldPoints
from reports.statistics import CLAIMS, SIGNIFICANCE
from reports.words import all_of, number_of

MOST_TOLD = 4
MEASURES = {"token_hit_rate": "token hit rate", "ttft_seconds": "mean TTFT"}


def sentences(overview: Overview, worlds: Sequence[WorldPoints]) -> list[str]:
    """Return the conclusions of the overview; none where there is nothing to compare."""
    rankings = overview.rankings if len(worlds) > 1 else ()
    return [
        *(_first(ranking) for ranking in rankings),
        *(agreed(ranking) for ranking in rankings[:1] if ranking.workloads > 1),
        *rooms(overview.taken, worlds),
        *_claims(overview, worlds),
    ]


def place_words(ranking: Ranking) -> str:
    """Return "2 workloads (6 places)", where a place is a workload at a capacity."""
    return f"{number_of(ranking.workloads, 'workload')} ({number_of(ranking.places, 'place')})"


def rank_words(ranked: RankedCombination) -> str:
    """Return "1.7 [1.3, 2.5]"."""
    return f"{ranked.rank:.1f} [{ranked.low:.1f}, {ranked.high:.1f}]"


def share_words(taken: Taken) -> str:
    """Return the share of the room with its interval, or that there is no room."""
    if taken.share is None:
        return "no room" if taken.room.low is not None or not taken.room.value else "n/a"
    return explained(taken.share, 0.01, "%").lstrip("+")


def agreed(ranking: Ranking) -> str:
    """Say whether the workloads agree on the order beyond chance."""
    kendall = f"Kendall's W {ranking.agreement:.2f}"
    if ranking.p_value is None:
        return f"One workload tells no agreement ({kendall})."
    shown = "p < 0.001" if ranking.p_value < 0.001 else f"p = {ranking.p_value:.2g}"
    if ranking.p_value < SIGNIFICANCE:
        return f"The workloads agree on the order more than chance explains ({kendall}, {shown})."
    return f"That the workloads agree on the order cannot be told from chance ({kendall}, {shown})."


def rooms(taken: Sequence[Taken], worlds: Sequence[WorldPoints]) -> Iterator[str]:
    """Say which share of the room the best policy reaches, per world at its middle capacity."""
    for world in worlds[:MOST_TOLD]:
        here = [t for t in taken if (t.world, t.capacity) == (world.name, world.focus)]
        where = f"on {world.name} at {world.place}" if world.name else f"at {world.place}"
        known = [t for t in here if t.share is not None]
        if known:
            best = max(known, key=lambda t: t.share.value if t.share else 0.0)
            yield (
                f"Of the room between {best.baseline} and {best.foresight}, which looks ahead, "
                f"{best.policy} takes {share_words(best)} {where}."
            )
        elif here:
            yield (
                f"Foresight ({here[0].foresight}) saves no more than {here[0].baseline} {where}, "
                "as far as these data tell: there is no room to take."
            )


def _first(ranking: Ranking) -> str:
    best, *others = ranking.ranked
    ahead = [each for each in others if each.rank > best.rank]
    equal = [each.series.name for each in others if each.rank == best.rank]
    names = all_of([best.series.name, *equal])
    verb = "share the first rank" if equal else "ranks first"
    mean = f"{best.rank:.1f}" if equal else rank_words(best)
    behind = f"; next {ahead[0].series.name} with {rank_words(ahead[0])}" if ahead else ""
    return (
        f"By {MEASURES[ranking.metric]}, over {place_words(ranking)}, {names} {verb}: mean rank "
        f"{mean} of {len(ranking.ranked)}{behind}."
    )


def _claims(overview: Overview, worlds: Sequence[WorldPoints]) -> Iterator[str]:
    """Say how many differences are significant, tied and unsure."""
    if overview.comparisons:
        claimed = sum(overview.verdicts.get(name, 0) for name in CLAIMS)
        tied, unsure = (overview.verdicts.get(name, 0) for name in ("tied", "unsure"))
        yield (
            f"{overview.standing} of {overview.comparisons} differences are significant after "
            f"Holm's correction for all of them; {claimed} are better or worse, {tied} tied "
            f"(within {worlds[0].margins.text}) and {unsure} unsure."
        )
