from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from reports.statistics import Joint, agreement, rank_bounds, ranks, replicated_together

Floats = NDArray[np.float64]


def test_equal_values_share_the_mean_rank() -> None:
    assert ranks(np.array([[0.3, 0.5, 0.3, 0.1]])).tolist() == [[2.5, 1.0, 2.5, 4.0]]


@pytest.mark.parametrize("ties", [False, True])
def test_agreement_is_friedmans_statistic(ties: bool) -> None:
    """Kendall's W is Friedman's chi-squared over workloads * (policies - 1)."""
    values = np.random.default_rng(1).normal(size=(7, 5)) + np.arange(5) / 3
    values = np.round(values) if ties else values
    oracle = stats.friedmanchisquare(*values.T)
    kendall, _ = agreement(ranks(values))
    assert kendall * 7 * 4 == pytest.approx(oracle.statistic)


def test_the_p_value_nears_that_of_friedmans_limit() -> None:
    values = np.random.default_rng(2).normal(size=(40, 4)) + np.arange(4) * 0.25
    _, p_value = agreement(ranks(values))
    assert p_value == pytest.approx(stats.friedmanchisquare(*values.T).pvalue, abs=0.01)


def test_the_exact_p_value_is_that_of_the_tables() -> None:
    """Friedman (1937), three objects ranked by three and by four judges, all alike."""
    alike = np.array([1.0, 2.0, 3.0])
    assert agreement(np.tile(alike, (3, 1))) == (1.0, pytest.approx(6 / 6**3))
    assert agreement(np.tile(alike, (4, 1)))[1] == pytest.approx(6 / 6**4)
    twice = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    sums = [
        np.square(sum(np.array(row) for row in rows)).sum()
        for rows in itertools.product(itertools.permutations([1.0, 2.0, 3.0]), repeat=3)
    ]
    as_much = np.mean(np.array(sums) >= np.square(twice.sum(axis=0)).sum())
    assert agreement(twice)[1] == pytest.approx(as_much)


def test_one_workload_agrees_with_itself_which_proves_nothing() -> None:
    assert agreement(np.array([[1.0, 2.0, 3.0]])) == (1.0, None)
    assert agreement(np.full((3, 4), 2.5)) == (0.0, None)


def test_the_p_value_rejects_no_more_than_it_says() -> None:
    """Two workloads at three capacities, which share their order: the mean ranks are shuffled."""
    generator = np.random.default_rng(3)
    p_values = []
    for _ in range(400):
        of_workload = generator.normal(size=(2, 1, 4))
        values = of_workload + 0.2 * generator.normal(size=(2, 3, 4))
        p_values.append(agreement(ranks(values).mean(axis=1))[1])
    assert np.mean(np.array(p_values, dtype=float) <= 0.05) <= 0.07


def joint(means: Floats, error: float, generator: np.random.Generator) -> Joint:
    """Return ten replications of policies that share most of their noise."""
    shared = generator.normal(size=(10, 1))
    return replicated_together(means + shared + error * generator.normal(size=(10, len(means))))


def test_bounds_by_hand() -> None:
    """Of three policies one is surely the last, and the other two cannot be told apart."""
    draws = np.array([[0.0, 0.1, -5.0], [0.1, 0.0, -5.1], [0.2, 0.1, -4.9], [0.0, 0.2, -5.0]])
    low, high, pairs = rank_bounds([replicated_together(draws)])
    assert (low.tolist(), high.tolist(), pairs) == ([[1, 1, 3]], [[2, 2, 3]], 3)


def test_without_evidence_every_rank_is_possible() -> None:
    low, high, pairs = rank_bounds([Joint(np.array([0.9, 0.5]))])
    assert (low.tolist(), high.tolist(), pairs) == ([[1, 1]], [[2, 2]], 0)
    same = np.tile(np.array([[0.3], [0.4]]), (1, 2))
    assert rank_bounds([replicated_together(same)])[2] == 0


def test_all_bounds_hold_at_once_nineteen_times_in_twenty() -> None:
    means = np.array([0.0, 0.0, 1.0, 1.5, 4.0])
    best = 1 + (means[None, :] > means[:, None]).sum(axis=1)
    worst = 5 - (means[None, :] < means[:, None]).sum(axis=1)
    generator = np.random.default_rng(4)
    held = []
    for _ in range(400):
        low, high, _ = rank_bounds([joint(means, 1.0, generator) for _ in range(2)])
        held.append((low <= best).all() and (high >= worst).all())
    assert np.mean(held) >= 0.95
    low, high, _ = rank_bounds([joint(means, 0.1, generator)])
    assert (low[0].tolist(), high[0].tolist()) == ([4, 4, 3, 2, 1], [5, 5, 3, 2, 1])
