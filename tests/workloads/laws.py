"""Whether a sample is within statistical error of its law, at a stated confidence.

Seeds are fixed, so that a test passes always or never; the confidence says how much a failure
would mean.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.999
Z = 3.29  # two-sided


def assert_mean(sample: ArrayLike, expected: float) -> None:
    """Hold the mean of independent draws against its expectation."""
    values = np.asarray(sample, dtype=np.float64)
    error = Z * values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - expected) <= error, (values.mean(), expected, error)


def assert_share(count: int, total: int, expected: float) -> None:
    """Hold a share of independent trials against its probability."""
    error = Z * math.sqrt(expected * (1 - expected) / total)
    assert abs(count / total - expected) <= error, (count / total, expected, error)


def assert_cv(gaps: ArrayLike, expected: float) -> None:
    """Hold standard deviation / mean of independent gaps against its law (delta method)."""
    x = np.asarray(gaps, dtype=np.float64)
    mean, sd = x.mean(), x.std()
    influence = ((x - mean) ** 2 - sd**2) / (2 * sd * mean) - sd * (x - mean) / mean**2
    error = Z * influence.std() / math.sqrt(len(x))
    assert abs(sd / mean - expected) <= error, (sd / mean, expected, error)


def assert_dispersion(counts: ArrayLike, expected: float) -> None:
    """Hold variance / mean of independent counts against its law (delta method)."""
    x = np.asarray(counts, dtype=np.float64)
    mean, variance = x.mean(), x.var()
    influence = ((x - mean) ** 2 - variance) / mean - variance * (x - mean) / mean**2
    error = Z * influence.std() / math.sqrt(len(x))
    assert abs(variance / mean - expected) <= error, (variance / mean, expected, error)


def assert_counts(observed: ArrayLike, expected: ArrayLike) -> None:
    """Hold counts against their expectations (chi-square; rare ones are pooled)."""
    from scipy.stats import chi2

    counts, wanted = (np.asarray(c, dtype=np.float64) for c in (observed, expected))
    rare = wanted < 5
    pools = [(counts[~rare], wanted[~rare])]
    if rare.any():
        pools.append((counts[rare].sum(keepdims=True), wanted[rare].sum(keepdims=True)))
    counts, wanted = (np.concatenate(parts) for parts in zip(*pools, strict=True))
    counts, wanted = counts[wanted > 0], wanted[wanted > 0]
    statistic = float(((counts - wanted) ** 2 / wanted).sum())
    assert statistic <= chi2.ppf(CONFIDENCE, max(1, len(wanted) - 1)), statistic
