"""Which alpha a replay speaks for."""

from __future__ import annotations

import numpy as np

from policies.eviction.marconi_tuning import surest


def test_a_gain_that_one_request_makes_is_no_reason():
    assert surest([[10] * 50, [10] * 49 + [1000]]) == 0


def test_a_gain_of_many_requests_is_one_and_the_greatest_counts():
    some, more = [12, 10] * 25, [14, 10] * 25
    assert surest([[10] * 50, some, more]) == 2
    assert surest([[10] * 50, more, some]) == 1


def test_what_loses_or_ties_is_never_chosen():
    assert surest([[10] * 50, [9] * 50, [10] * 50]) == 0


def test_rows_that_differ_by_chance_alone_hardly_ever_lead_away():
    rng = np.random.default_rng(4)
    chosen = [surest(rng.integers(0, 1000, (2, 60)).tolist()) for _ in range(1000)]
    assert sum(map(bool, chosen)) <= 45  # 23 are expected beyond two standard errors
