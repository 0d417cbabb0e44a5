"""Whether overlap estimators see a drift whose truth is known."""

from __future__ import annotations

import math

import pytest

from policies.estimation.change import ChangeDetector
from policies.registry import create
from simulator.plugins.protocols import Law, Overlap, OverlapEstimator
from workloads.arrivals import Poisson
from workloads.drift import Drift, read_drift
from workloads.inspection import overlaps
from workloads.synthetic import Documents
from workloads.synthetic.truth import overlap_law, repeat_law, total_variation

REQUESTS, WINDOW, SEED = 4000, 500, 4
GENERATOR = Documents(count=8, openings=0, zipf_exponent=1.2)
SUDDEN = read_drift("shift:distance=0.4,at=0.5")
BEFORE, AFTER = (repeat_law(GENERATOR, x, SEED, SUDDEN) for x in (0.4, 0.6))


def depths(drift: Drift) -> list[int]:
    return overlaps(GENERATOR.trace(REQUESTS, SEED, Poisson(1.0), drift)).tolist()


def shown(estimator: OverlapEstimator, seen: list[int]) -> Law:
    for depth in seen:
        estimator.observe(Overlap(depth=depth, prompt_tokens=depth + 100))
    return estimator.law()


def noise(law: Law, samples: float) -> float:
    """Bound the distance of an empirical law from its truth, at 99.9 % (McDiarmid)."""
    mean = 0.5 * math.sqrt(len(law.depths) / samples)
    return mean + math.sqrt(math.log(1000) / (2 * samples))


def test_the_truth_moves_by_the_knob() -> None:
    assert total_variation(BEFORE, AFTER) == pytest.approx(0.4)


def test_a_window_learns_the_new_law_within_its_length() -> None:
    seen = depths(SUDDEN)
    half = REQUESTS // 2
    window = create("estimator", f"window:requests={WINDOW}")
    error = noise(AFTER, WINDOW)
    assert error < 0.2
    assert total_variation(shown(window, seen[:half]), BEFORE) <= error
    # half a window later half of what it holds is of the old law
    halfway = total_variation(shown(window, seen[half : half + WINDOW // 2]), AFTER)
    assert abs(halfway - 0.2) <= error
    law = shown(window, seen[half + WINDOW // 2 : half + WINDOW])
    assert total_variation(law, AFTER) <= error
    assert total_variation(law, BEFORE) >= 0.4 - error


def test_one_that_is_frozen_stays_with_the_old_law() -> None:
    seen = depths(SUDDEN)
    frozen = create("estimator", f"frozen:train={WINDOW}")
    law = shown(frozen, seen)
    assert total_variation(law, BEFORE) <= noise(BEFORE, WINDOW)
    assert total_variation(law, AFTER) >= 0.4 - noise(BEFORE, WINDOW)


def test_a_gradual_shift_is_half_seen_halfway() -> None:
    gradual = read_drift("shift:distance=0.4")
    window = create("estimator", f"window:requests={WINDOW}")
    law = shown(window, depths(gradual)[: REQUESTS // 2])
    # the window's middle lies half a window before its end
    middle = REQUESTS // 2 - WINDOW // 2
    truth = overlap_law(GENERATOR, middle, REQUESTS, SEED, gradual)
    assert total_variation(law, truth) <= noise(truth, WINDOW)
    moved = total_variation(repeat_law(GENERATOR, 0.0, SEED, gradual), truth)
    assert moved == pytest.approx(0.4 * middle / REQUESTS, abs=1e-3)


@pytest.mark.parametrize(
    "text", ["shift:distance=0.4,at=0.5", "rewrites:times=1", "growth:steps=1"]
)
def test_a_change_detector_sees_every_sudden_drift(text: str) -> None:
    drifting = depths(read_drift(text))
    still = depths(Drift())
    half = REQUESTS // 2
    for seen, moved in ((drifting, True), (still, False)):
        detector = ChangeDetector(window=WINDOW)
        for depth in seen[half - WINDOW : half]:
            detector.observe(depth)
        detector.settle()
        for depth in seen[half : half + WINDOW]:
            detector.observe(depth)
        assert detector.moved() is moved
