"""Positions of a run as they are stored: an object for JSON, and columns for a cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reports.results.positions.columns import BINS, COUNTS, LABEL_BINS, LABELS, POINTS, WORDS
from reports.results.positions.engines import Nearest, nearest_setting
from reports.results.positions.forks import forks_seen
from reports.results.positions.histograms import all_counts, by_label, figures
from reports.results.positions.patterns import pattern_of
from reports.results.positions.stored import Stored, Whole, stored_states
from reports.results.positions.words import words
from simulator.results.result import Result
from simulator.simulation import Scenario
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The states that a policy has stored in a run, and words for it."""

    stored: Stored  # of the requests that count
    labels: dict[str, Stored]  # the same of each label, where there are several
    words: str
    nearest: Nearest | None  # the engine setting that is nearest; None where no state was stored

    @classmethod
    def of(
        cls,
        name: str,
        trace: Trace,
        scenario: Scenario,
        result: Result,
        warmup_share: float,
        seen: Whole | None,
    ) -> Positions:
        """Look at a run; `seen` is `forks_seen` of the trace, None to work it out."""
        if seen is None:
            seen = forks_seen(trace) if len(result.positions) else np.zeros(0, dtype=np.int64)
        profile = scenario.profile
        alignment = profile.alignment if scenario.alignment is None else scenario.alignment
        grid = Grid(trace.granularity, alignment)
        stored = stored_states(trace, result, grid, seen, warmup_share)
        pattern = pattern_of(stored)
        sentence = words(name, stored, pattern, implicit=scenario.placer().implicit)
        nearest = nearest_setting(stored, profile, pattern)
        return cls(stored, by_label(stored, trace.labels), sentence, nearest)


def positions_of(
    name: str, trace: Trace, scenario: Scenario, result: Result, warmup_share: float
) -> dict[str, Any]:
    """Return where the states of a run lie, for its summary.

    Parameters
    ----------
    name
        The name of the placer.
    trace, scenario, result
        The simulated trace and scenario, and their result.
    warmup_share
        The share of all requests, from the first on, that are left out.
    """
    positions = Positions.of(name, trace, scenario, result, warmup_share, None)
    nearest = positions.nearest
    return {
        "words": positions.words,
        "nearest": None if nearest is None else asdict(nearest) | {"words": nearest.words()},
        **figures(positions.stored),
        "labels": {label: figures(stored) for label, stored in positions.labels.items()},
    }


def flat_positions(
    name: str,
    trace: Trace,
    scenario: Scenario,
    result: Result,
    warmup_share: float,
    seen: Whole | None = None,
) -> dict[str, Any]:
    """Return the positions as columns of a cell, with the labels' bins concatenated."""
    positions = Positions.of(name, trace, scenario, result, warmup_share, seen)
    kinds = (int(which.sum()) for which in positions.stored.kinds().values())
    nearest = None if positions.nearest is None else positions.nearest.words()
    of_labels = [all_counts(stored) for stored in positions.labels.values()]
    together = ([n for each in of_labels for n in each[point]] for point in POINTS)
    return {
        **dict(zip(COUNTS, kinds, strict=True)),
        **dict(zip(WORDS, (positions.words, nearest), strict=True)),
        **dict(zip(BINS, all_counts(positions.stored).values(), strict=True)),
        LABELS: [*positions.labels],
        **dict(zip(LABEL_BINS, together, strict=True)),
    }
