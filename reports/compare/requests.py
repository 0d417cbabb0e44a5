"""Comparison of two runs, paired request by request or as two independent samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.compare.figures import Parts, Unit, figure, memory_of, parts_of, statistic_of
from reports.compare.measures import Measure
from reports.compare.outcome import Compared
from reports.compare.run_folder import Columns, Run
from reports.statistics import (
    Estimate,
    clustered_difference,
    independent_difference,
    replay_difference,
)
from simulator.base.errors import UsageError, printable


def common_requests(a: Run, b: Run) -> tuple[Columns, Columns]:
    """Return the requests that count in both runs, row by row the same.

    Raises
    ------
    UsageError
        When the runs did not replay the same prompts.
    """
    if a.prompts and b.prompts and a.prompts != b.prompts:
        raise _other_traces(a, b)
    ours, theirs = a.counted(), b.counted()
    _, mine, others = np.intersect1d(
        ours["request"], theirs["request"], assume_unique=True, return_indices=True
    )
    ours = {name: column[mine] for name, column in ours.items()}
    theirs = {name: column[others] for name, column in theirs.items()}
    if not len(mine) or not np.array_equal(ours["prompt_tokens"], theirs["prompt_tokens"]):
        raise _other_traces(a, b)
    return ours, theirs


def compared_figures(
    a: Columns, b: Columns, units: Sequence[Unit], measures: Sequence[Measure], *, paired: bool
) -> list[Compared]:
    """Return each measure of B less that of A: over the same requests, or over those of each."""
    ours, theirs = ([p for unit in units if (p := parts_of(side, unit))] for side in (a, b))
    figures = []
    for measure in measures:
        values, difference = (figure(a, measure), figure(b, measure)), None
        if None not in values and paired:
            difference = _widest(b, a, ours, measure)
        elif None not in values:
            alone = _widest(b, None, theirs, measure), _widest(a, None, ours, measure)
            difference = independent_difference(*alone)
        figures.append(Compared.of({}, measure, *values, difference))
    return figures


def _widest(
    ours: Columns, theirs: Columns | None, ways: Sequence[Parts], measure: Measure
) -> Estimate:
    """Return the estimate with the widest interval over all units of resampling.

    Requests depend on each other in more than one way, and a unit that cuts through a dependence
    gives too narrow an interval. Where time is too short to tell, so it is for all.
    """
    value = (figure(ours, measure) or 0.0) - ((theirs and figure(theirs, measure)) or 0.0)
    estimates = [_estimate(ours, theirs, parts, measure) for parts in ways]
    reason = next((estimate.reason for estimate in estimates if estimate.reason), "")
    known = [estimate for estimate in estimates if estimate.low is not None and not reason]
    return max(
        known, key=lambda each: each.ends[1] - each.ends[0], default=Estimate(value, reason=reason)
    )


def _estimate(ours: Columns, theirs: Columns | None, parts: Parts, measure: Measure) -> Estimate:
    mine = statistic_of(ours, measure, parts)
    other = statistic_of(theirs, measure, parts) if theirs else None
    if mine is None or (theirs and other is None):
        return Estimate(np.nan)
    if parts.unit == "time":
        sides = [side for side in (ours, theirs) if side is not None]
        return replay_difference(mine, other, max(map(memory_of, sides)) * parts.count)
    return clustered_difference(mine, other, parts.unit)


def _other_traces(a: Run, b: Run) -> UsageError:
    return UsageError(
        f"{printable(a.folder)} and {printable(b.folder)} replayed different requests, so nothing "
        "can be paired; --unpaired compares them as two samples"
    )
