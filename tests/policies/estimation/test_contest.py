"""Contests of predictions: who wins, and how seldom by chance."""

from __future__ import annotations

import numpy as np
import pytest

from policies.estimation.contest import Contest


def test_nobody_wins_before_the_least_number_of_leads() -> None:
    contest = Contest(2, fade=0.9999, errors=1.0, least=4.0)
    assert contest.winner() is None
    for lead in (1.0, 2.0, 1.0):
        contest.score(np.array([lead, 0.0]))
        assert contest.winner() is None
    contest.score(np.array([2.0, 0.0]))
    contest.score(np.array([1.0, 0.0]))
    assert contest.winner() == 0


def test_the_greatest_mean_lead_wins_and_recent_ones_count_more() -> None:
    contest = Contest(2, fade=0.5, errors=0.5, least=1.5)
    for leads in ([9.0, 1.0], [-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]):
        contest.score(np.array(leads))
    assert contest.winner() == 1


def test_the_error_is_that_of_a_weighted_mean() -> None:
    leads = np.random.default_rng(3).normal(0.4, 1.0, 200)
    weights = 0.98 ** np.arange(199, -1, -1)
    mean = np.average(leads, weights=weights)
    samples = weights.sum() ** 2 / (weights**2).sum()
    error = (np.average((leads - mean) ** 2, weights=weights) / (samples - 1)) ** 0.5
    for errors, winner in ((mean / error * 0.999, 0), (mean / error * 1.001, None)):
        contest = Contest(1, fade=0.98, errors=errors, least=2.0)
        for lead in leads:
            contest.score(np.array([lead]))
        assert contest.winner() == winner


@pytest.mark.parametrize("errors", [1.64, 3.0])
def test_chance_wins_as_seldom_as_a_normal_mean_exceeds_its_errors(errors: float) -> None:
    rng, wins, contests = np.random.default_rng(4), 0, 2000
    contest = Contest(1, 0.95, errors, 5.0)
    for at in range(100 * contests):
        contest.score(rng.normal(size=1))
        wins += at % 100 == 99 and contest.winner() is not None
    assert wins / contests < {1.64: 0.07, 3.0: 0.006}[errors]
