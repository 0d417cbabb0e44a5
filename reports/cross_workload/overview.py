"""Everything that is told of a study as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.cross_workload.ranking import Ranking, ranking
from reports.cross_workload.room import Taken, taken
from reports.results.comparison import differences
from reports.results.evidence import Metric
from reports.results.points import WorldPoints

METRICS: tuple[Metric, ...] = ("token_hit_rate", "ttft_seconds")


@dataclass(frozen=True, slots=True)
class Overview:
    """A study as a whole.

    Parameters
    ----------
    rankings
        By token hit rate, and by mean TTFT; none where there is nothing to rank.
    taken
        The shares of the room up to foresight.
    comparisons
        Differences with something to test, all corrected for each other.
    standing
        How many of them stand Holm's correction.
    verdicts
        How many of them are better, worse, tied and unsure.
    """

    rankings: tuple[Ranking, ...]
    taken: tuple[Taken, ...]
    comparisons: int
    standing: int
    verdicts: Mapping[str, int]


def overview_of(worlds: Sequence[WorldPoints]) -> Overview:
    """Return the overview of the worlds of a study, as `compare` makes them."""
    rankings = [ranking(worlds, metric) for metric in METRICS]
    tested = [each for each in differences(worlds) if each is not None and each.tested]
    return Overview(
        tuple(each for each in rankings if each is not None),
        tuple(taken(worlds)),
        len(tested),
        sum(each.stands for each in tested),
        Counter(each.verdict for each in tested),
    )
