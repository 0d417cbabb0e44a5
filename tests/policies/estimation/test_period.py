"""Laws of the next phase of a period: by hand, and against the true law of traffic."""

from __future__ import annotations

import numpy as np
import pytest

from policies.estimation import CountingEstimator, Decay, Period
from policies.estimation.period import BLOCK, MOST
from simulator.plugins.protocols import Law, Overlap
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.inspection import overlaps
from workloads.synthetic import Documents
from workloads.synthetic.truth import overlap_law, total_variation

GENERATOR = Documents(count=8, openings=0, zipf_exponent=1.2)
REQUESTS, WEEKS, SEED = 6000, 12, 4


def teach(estimator: CountingEstimator, depths: list[int]) -> Law:
    for depth in depths:
        estimator.observe(Overlap(depth, 10**7))
    return estimator.law()


def alternating(phase: int, rounds: int, seed: int) -> list[int]:
    """Return depths that are mostly 300, then mostly 800, for `phase` requests each."""
    rng = np.random.default_rng(seed)
    often = np.tile(np.repeat([300, 800], phase), rounds)
    return np.where(rng.random(len(often)) < 0.8, often, 1100 - often).tolist()


def test_the_period_is_that_of_the_depths() -> None:
    estimator = Period()
    teach(estimator, alternating(200, 6, seed=1))
    assert estimator.period_requests == 400


def test_at_the_end_of_a_phase_the_next_one_is_expected() -> None:
    depths = alternating(200, 6, seed=1)
    ours, theirs = teach(Period(), depths[:-200]), teach(Decay(), depths[:-200])
    share = [float(law.weights[-1] / law.weights.sum()) for law in (ours, theirs)]
    assert ours.depths.tolist() == theirs.depths.tolist() == [300, 800]
    assert share[0] > share[1] + 0.1


@pytest.mark.parametrize("seed", range(5))
def test_without_a_period_the_law_is_that_of_decay(seed: int) -> None:
    depths = np.random.default_rng(seed).choice([0, 200, 300, 500, 800], 3000).tolist()
    estimator = Period(0.98)
    laws = teach(estimator, depths), teach(Decay(0.98), depths)
    if not estimator.period_requests:
        assert laws[0].weights.tolist() == laws[1].weights.tolist()
    assert total_variation(*laws) < 0.1


def test_it_is_closer_to_the_true_law_when_a_phase_begins() -> None:
    drift = read_drift(f"cycles:distance=0.4,weeks={WEEKS}")
    depths = overlaps(GENERATOR.trace(REQUESTS, SEED, Poisson(1.0), drift)).tolist()
    period, decay = Period(), Decay()
    week = REQUESTS // WEEKS
    distances, seen = [], 0
    for number in range(5, WEEKS):
        now = number * week + 20  # soon after the first mix has come back
        laws = teach(period, depths[seen:now]), teach(decay, depths[seen:now])
        truth = overlap_law(GENERATOR, now, REQUESTS, SEED, drift)
        distances.append([total_variation(law, truth) for law in laws])
        seen = now
    ours, theirs = np.mean(distances, axis=0)
    assert ours < theirs - 0.05


def test_memory_is_bounded() -> None:
    depths = alternating(200, 40, seed=2)
    estimator = Period()
    teach(estimator, depths[: MOST * BLOCK])
    law = teach(estimator, depths[MOST * BLOCK :])
    assert estimator.period_requests == 400
    assert law.weights.sum() < 100 + 6 * 80
    late = Period()
    other = teach(late, depths[-(MOST * BLOCK) :])
    assert late.period_requests == 400
    assert law.weights == pytest.approx(other.weights)


def test_what_earlier_periods_add_is_not_kept() -> None:
    depths = alternating(200, 8, seed=3)
    period, decay = Period(0.95), Decay(0.95)  # whose weights are rescaled every 500 requests
    for start in range(0, len(depths), 100):
        piece = depths[start : start + 100]
        ours, theirs = teach(period, piece), teach(decay, piece)
        assert ours.weights.sum() - theirs.weights.sum() < 6 * 80


def test_the_deepest_and_the_shallowest_depths_have_a_cell() -> None:
    law = teach(Period(), [1, 10**9, 0, 2] * 200)
    assert law.depths.tolist() == [1, 2, 10**7]
