"""Intervals of single replays, on disjoint pieces of long traffic.

The whole table, with more pieces and longer traffic, is made by `python -m studies.coverage`.
"""

from __future__ import annotations

import numpy as np
import pytest

from reports.statistics import Estimate
from studies.coverage import BRISK, CoverageCase, Covered, by_figure, coverage, figures_of, piece_of

DOCUMENTS = CoverageCase("documents", "documents", "poisson", 3, 1000, 16)


def covered(traffic: CoverageCase, pieces: int) -> dict[tuple[str, str, str], Covered]:
    trace, size = traffic.trace(pieces, 5), traffic.requests
    starts = range(0, size * pieces, size)
    return by_figure([figures_of(piece_of(trace, at, at + size), traffic) for at in starts])


@pytest.mark.parametrize("traffic", [DOCUMENTS, BRISK], ids=lambda traffic: traffic.name)
def test_intervals_of_a_replay_hold_the_mean_of_such_traffic(traffic: CoverageCase) -> None:
    """Of 45 at 92 %, 37 or fewer with a chance of 1 in 30; drawn blocks of time held 35 of 50."""
    for figure, counts in covered(traffic, 50).items():
        assert counts.printed >= 40, figure
        assert counts.share > 0.82, figure


@pytest.mark.parametrize(
    "traffic",
    [
        CoverageCase("chats", "chats", "poisson", 5, 1500, 16),
        CoverageCase("chats in bursts", "chats", "gamma:cv=2", 5, 1500, 16),
        CoverageCase("agents in bursts", "agents", "mmpp", 1.5, 1500, 32),
    ],
    ids=lambda traffic: traffic.name,
)
def test_what_is_too_short_to_tell_has_no_interval(traffic: CoverageCase) -> None:
    trace, size = traffic.trace(4, 5), traffic.requests
    for at in range(0, len(trace), size):
        for each in figures_of(piece_of(trace, at, at + size), traffic):
            assert each.difference.low is None, each
            assert each.difference.reason.startswith("too short to tell: it lasts"), each


def test_the_share_that_held_by_hand() -> None:
    """The mean is 2; one interval holds it, one does not, one is not there."""
    estimates = [Estimate(1.0, 0.0, 2.5), Estimate(2.0, 2.2, 2.4), Estimate(3.0)]
    assert coverage(estimates) == Covered(2, 3, 1)
    assert np.isnan(coverage([Estimate(1.0)]).share)


def test_a_piece_is_the_same_prompts_from_a_time_of_its_own() -> None:
    trace = DOCUMENTS.trace(1, 3)
    piece = piece_of(trace, 700, 1000)
    assert piece.problem() is None
    assert piece.tree.nodes < trace.tree.nodes
    assert piece.prompt_tokens.tolist() == trace.prompt_tokens[700:1000].tolist()
    assert piece.arrival_seconds is not None
    assert trace.arrival_seconds is not None
    gaps = np.diff(trace.arrival_seconds[700:1000])
    assert piece.arrival_seconds[0] == 0
    assert np.allclose(np.diff(piece.arrival_seconds), gaps)
