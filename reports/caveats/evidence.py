"""Caveats of the evidence: how intervals are made, and what "better" and "worse" mean."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from reports.results.margins import Margins

REPLAY = (
    "Intervals: 95 %, from the blocks of time of one replay. They tell how much the answer hangs "
    "on these hours of traffic, not what another trace would show."
)


def intervals(
    methods: Collection[str], replications: int, *, searched: bool = False
) -> Iterator[str]:
    """Yield how the 95 % intervals of a report were computed.

    Parameters
    ----------
    methods
        The methods in use, as in `reports.statistics.Method`.
    replications
        The number of replications, or of draws of the cost coefficients.
    searched
        Whether the intervals are those of a capacity that a search found, rather than of a metric.
    """
    if "replications" in methods and searched:
        yield (
            "Intervals: a capacity counts as surely missing or meeting the target where the whole "
            f"95 % interval of the metric (Student's t over {replications} replications) "
            "does. Between the two lies the interval of the answer."
        )
    elif "replications" in methods:
        yield (
            f"Intervals: 95 %, Student's t over {replications} replications, "
            "paired by their random numbers. With few replications they are wide."
        )
    if "draws" in methods:
        yield (
            f"Intervals: 95 %, over {replications} draws of the cost coefficients "
            "from the uncertainty of their fit, each replication with one: where another draw "
            "would lie, not the error of the mean, which more draws would make small."
        )
    if "blocks" in methods:
        yield REPLAY


def corrected(comparisons: int, margins: Margins) -> Iterator[str]:
    """Yield what "better", "worse", "tied" and "unsure" mean, where there are comparisons."""
    if comparisons:
        yield (
            "“Better” and “worse” are said of differences that are significant after Holm's "
            f"correction for all {comparisons:,} comparisons: the chance that any such claim is "
            f"false is at most 5 %. “Tied”: the whole interval is within {margins.text}. "
            "“Unsure”: neither can be said."
        )
