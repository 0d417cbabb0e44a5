"""Gamma and Weibull arrivals: independent gaps of a stated mean and cv."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.workloads.laws import assert_cv, assert_dispersion, assert_mean
from workloads.arrivals import read_process
from workloads.arrivals.weibull import shape_of_cv

GAPS = 100_000


@pytest.mark.parametrize("name", ["gamma", "weibull"])
@pytest.mark.parametrize(("rate", "cv"), [(0.5, 0.3), (4.0, 1.0), (2.0, 3.0)])
def test_rate_and_cv_are_the_parameters(name, rate, cv):
    gaps = np.diff(read_process(f"{name}:rate={rate},cv={cv}").times(GAPS + 1, seed=5))
    assert_mean(gaps, 1 / rate)
    assert_cv(gaps, cv)


def test_gamma_gaps_are_gamma():
    gaps = np.diff(read_process("gamma:rate=2,cv=1.5").times(GAPS + 1, seed=1))
    law = stats.gamma(1 / 2.25, scale=2.25 / 2)
    assert stats.kstest(gaps, law.cdf).pvalue > 0.001


@pytest.mark.parametrize("cv", [0.3, 1.0, 2.5, 8.0])
def test_weibull_gaps_are_weibull(cv):
    shape = shape_of_cv(cv)
    law = stats.weibull_min(shape)
    assert math.isclose(law.std() / law.mean(), cv, rel_tol=1e-9)
    gaps = np.diff(read_process(f"weibull:rate=2,cv={cv}").times(GAPS + 1, seed=1))
    assert stats.kstest(gaps * 2 * law.mean(), law.cdf).pvalue > 0.001


def test_the_index_of_dispersion_tends_to_the_squared_cv():
    times = read_process("gamma:rate=10,cv=2").times(400_000, seed=3)
    counts = np.bincount((times / 100).astype(np.int64))[:-1]
    # of a renewal process in a long window, up to a term of the order of 1 / its mean count
    assert_dispersion(counts, 4.0)


def test_a_cv_of_one_is_poisson():
    assert math.isclose(shape_of_cv(1.0), 1.0, rel_tol=1e-9)
    gaps = np.diff(read_process("gamma:cv=1").times(GAPS, seed=2))
    assert stats.kstest(gaps, stats.expon.cdf).pvalue > 0.001
