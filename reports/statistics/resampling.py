"""Intervals from one replay: its blocks of time, its sessions or its documents drawn again."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reports.statistics.estimate import Estimate, Method, t_interval
from reports.statistics.parts import RESAMPLES, Statistic

FEWEST_DRAWS = 4


@lru_cache(maxsize=4)  # a page resamples every policy with one set
def block_weights(
    blocks: int, length: int | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> NDArray[np.float64]:
    """Return how often a circular block bootstrap draws each block of time.

    A draw takes `length` consecutive blocks, around the end if need be, so that dependence over
    less than `length` blocks survives. The same arguments give the same weights: use one set for
    all policies, and their differences are paired.

    Returns
    -------
    float64 of shape (resamples, blocks), read-only; each row sums to `blocks` rounded up to whole
    draws.

    References
    ----------
    Politis and Romano (1992), "A circular block-resampling procedure for stationary data".
    """
    run = run_length(blocks, length)
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    starts = generator.integers(blocks, size=(resamples, -(-blocks // run)))
    drawn = (starts[:, :, None] + np.arange(run)) % blocks
    rows = np.arange(resamples)[:, None] * blocks + drawn.reshape(resamples, -1)
    counts = np.bincount(rows.ravel(), minlength=resamples * blocks)
    weights = counts.reshape(resamples, blocks).astype(np.float64)
    weights.setflags(write=False)
    return weights


def resampled_difference(
    ours: Statistic, theirs: Statistic | None, length: int | None = None, seed: int = 0
) -> Estimate:
    """Return `ours - theirs` (or `ours` alone) with an interval from resampled blocks of time.

    The interval is symmetric: the bootstrap gives the standard error, corrected for the variance
    that `blocks / length` independent draws lose to their own mean, and Student's t with
    `blocks / length - 1` degrees of freedom the multiple. Percentiles would cover too little with
    so few draws. Fewer than four independent draws give no interval, nor do denominators that
    are zero in some resample.
    """
    run = run_length(ours.parts, length)
    return _resampled(ours, theirs, run, ours.parts / run, "blocks", seed)


def clustered_difference(
    ours: Statistic,
    theirs: Statistic | None,
    method: Literal["sessions", "documents"],
    seed: int = 0,
) -> Estimate:
    """Return the same with an interval from resampling parts that do not depend on each other.

    A few large parts among many small ones tell little: the degrees of freedom come from Kish's
    effective number of parts, `sum(size)^2 / sum(size^2)`, and fewer than four of those give no
    interval.

    References
    ----------
    Carter, Schnepel and Steigerwald (2017), "Asymptotic behavior of a t test robust to cluster
    heterogeneity".
    """
    even = ours.even_parts if theirs is None else min(ours.even_parts, theirs.even_parts)
    return _resampled(ours, theirs, 1, even, method, seed)


def _resampled(
    ours: Statistic, theirs: Statistic | None, run: int, draws: float, method: Method, seed: int
) -> Estimate:
    parts = ours.parts
    value = ours.value - (theirs.value if theirs else 0.0)
    if draws < FEWEST_DRAWS or not np.isfinite(value):
        return Estimate(value, count=parts)
    weights = block_weights(parts, run, ours.resamples, seed)
    spread = ours.resampled(weights) - (theirs.resampled(weights) if theirs else 0.0)
    if not np.isfinite(spread).all():
        return Estimate(value, count=parts)
    error = float(spread.std(ddof=1)) * math.sqrt(draws / (draws - 1))
    return t_interval(value, error, draws - 1, method, parts)


def run_length(blocks: int, length: int | None = None) -> int:
    """Return consecutive blocks a draw: the cube root of all, unless `length` is given."""
    if blocks < 1:
        raise ValueError("there is no block to resample")
    run = round(blocks ** (1 / 3)) if length is None else length
    if run < 1:
        raise ValueError(f"block length {run} is below 1")
    return min(run, blocks)
