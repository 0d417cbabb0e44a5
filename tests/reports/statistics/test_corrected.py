from __future__ import annotations

import numpy as np
import pytest

from reports.statistics import Estimate, corrected, mean_interval


def test_holm_by_hand_over_what_is_tested() -> None:
    """p = 0.01, 0.04, 0.03 times 3, 1 and 2, none below the one before: 0.03, 0.06, 0.06."""
    made = [at(0.01), None, at(0.04), Estimate(1.0), at(0.03), mean_interval([0.0, 0.0])]
    judged = corrected(made)
    adjusted = [each and each.p_holm for each in judged]
    assert adjusted == [
        pytest.approx(0.03),
        None,
        pytest.approx(0.06),
        None,
        pytest.approx(0.06),
        None,
    ]
    verdicts = [each and each.verdict for each in judged]
    assert verdicts == ["better", None, "unsure", "unknown", "unsure", "equal"]


def at(p_value: float) -> Estimate:
    """Return a difference of 1 with a p-value, from five replications."""
    from scipy import stats

    error = 1 / stats.t.isf(p_value / 2, 4)
    half = stats.t.ppf(0.975, 4) * error
    return Estimate(1.0, 1 - half, 1 + half, "replications", 5, 4)


def test_what_stands_alone_may_not_stand_among_others() -> None:
    alone = at(0.03)
    assert (alone.stands, alone.covers_zero, alone.verdict) == (True, False, "better")
    first, *_ = corrected([alone, at(0.5), at(0.6)])
    assert first is not None
    assert first.p_holm == pytest.approx(0.09)
    assert (first.stands, first.covers_zero, first.verdict) == (False, False, "unsure")
    (wide,) = corrected([at(0.5)])
    assert wide is not None
    assert (wide.stands, wide.covers_zero, wide.verdict) == (False, True, "unsure")


def test_the_opposite_has_its_ends_swapped() -> None:
    difference = Estimate(1.0, -0.5, 2.5, "blocks", 64, 15)
    assert difference.opposite == Estimate(-1.0, -2.5, 0.5, "blocks", 64, 15)
    assert Estimate(2.0).opposite == Estimate(-2.0)
    assert str(Estimate(0.0).opposite.value) == "0.0"


def test_false_claims_come_in_at_most_one_study_of_twenty() -> None:
    generator = np.random.default_rng(5)
    false = 0
    for _ in range(400):
        shared = generator.normal(size=6)
        made = [mean_interval(0.7 * shared + generator.normal(size=6)) for _ in range(12)]
        false += any(each is not None and each.stands for each in corrected(made))
    assert false / 400 <= 0.07
