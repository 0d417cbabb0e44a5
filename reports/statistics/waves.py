"""Standard errors of means over autocorrelated parts, from low-frequency cosine transforms.

The parts are consecutive, such as blocks of time. The cosine transforms of the series, here called
waves, are approximately independent if it is stationary, and the variance of the mean is the power
(mean square) of the waves as their frequency tends to zero. For independent parts all waves have
equal power. Where effects last for many parts, the slowest waves have more power than the rest, and
the mean has more still. `Shapes` are models of how much more: each is a mixture of white noise and
a component whose autocorrelation decays exponentially. Each model is weighted by its posterior
probability given the waves. Over the models, the error follows a mixture of Student's t
distributions, approximated by the one with the same variance and kurtosis.

References
----------
Müller (2007), "A theory of robust long-run variance estimation"; Müller and Watson (2008),
"Testing models of low-frequency variability"; Lazarus, Lewis, Stock and Watson (2018), "HAR
inference: recommendations for practice".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_WAVES = 24
FEWEST_PARTS = 8
FEWEST_MEMORIES = 8.0  # correlation lengths that a replay must at least cover for an interval
_NOISE = 0.7  # prior weight of independent parts
_LONGEST = 12.0  # parts; the longest correlation length considered where none is known
_MEMORIES = 6
_SHARES = (0.25, 0.5, 0.75, 0.9, 0.97)  # of the variance, due to autocorrelation
_KNOWN = 0.95  # prior weight of a correlation length known from sessions or the queue
_KNOWN_SHARES = (0.5, 0.7, 0.85, 0.95, 1.0)
_KNOWN_MEMORIES = (1.0, 2.0)
_SHORTEST = 4.0  # parts; a shorter correlation length needs no models of its own


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Models of dependence between parts, each given by the power of its waves."""

    power: Floats  # float64 of shape (shapes, waves), relative to a common scale
    # float64 of shape (shapes,): the variance of the mean, times the number of parts
    of_mean: Floats
    prior: Floats  # float64 of shape (shapes,), which sums to 1


def waves(influence: Floats) -> Floats:
    """Return the slow waves of series, float64 of shape (parts, ...), as (waves, ...)."""
    transformed: Floats = _cosines(len(influence)) @ influence
    return transformed


def error_of(slow: Floats, parts: int, memory: float) -> tuple[Floats, Floats]:
    """Return the standard error of each mean, and the degrees of freedom of its Student's t.

    Parameters
    ----------
    slow
        Slow waves of the parts' influences on each mean, float64 of shape (waves, means).
    parts
        Number of parts.
    memory
        Correlation length in parts, as far as it is known; 0 where it is not.
    """
    shapes, count = shapes_of(parts, round(memory, 1)), len(slow)
    squares = np.square(slow)
    scale = squares.mean(axis=0)
    safe = np.where(scale > 0, scale, 1.0)
    relative = np.where(scale > 0, squares / safe, 1.0)
    sums = (1 / shapes.power) @ relative / count
    fit = np.log(shapes.prior) - np.log(shapes.power).sum(axis=1) / 2
    likelihood = fit[:, None] - count / 2 * np.log(sums)
    weights = np.exp(likelihood - likelihood.max(axis=0))
    weights /= weights.sum(axis=0)
    variances = sums * shapes.of_mean[:, None] * parts
    second = (weights * variances).sum(axis=0) * count / (count - 2)
    fourth = (weights * variances**2).sum(axis=0) * 3 * count**2 / ((count - 2) * (count - 4))
    freedom = 4 + 6 / (fourth / second**2 - 3)
    return np.sqrt(safe * second * (freedom - 2) / freedom) * (scale > 0), freedom


@lru_cache(maxsize=64)
def _cosines(parts: int) -> Floats:
    """Return the slowest cosines, orthonormal rows of shape (waves, parts); none is constant."""
    row = np.arange(1, min(MOST_WAVES, parts - 1) + 1)[:, None]
    rows: Floats = np.sqrt(2 / parts) * np.cos(np.pi * row * (np.arange(parts) + 0.5) / parts)
    return rows


@lru_cache(maxsize=256)
def shapes_of(parts: int, memory: float) -> Shapes:
    """Return the models of dependence for a number of parts and a known correlation length."""
    unasked = np.geomspace(1.0, _LONGEST, _MEMORIES)
    lasting = [(float(length), share) for length in unasked for share in _SHARES]
    each = (1 - _NOISE) / len(lasting)
    laws = [(1.0, 0.0, _NOISE), *((length, share, each) for length, share in lasting)]
    if memory >= _SHORTEST:
        asked = [(f * memory, share) for f in _KNOWN_MEMORIES for share in _KNOWN_SHARES]
        laws = [(length, share, (1 - _KNOWN) * prior) for length, share, prior in laws]
        laws += [(length, share, _KNOWN / len(asked)) for length, share in asked]
    lasts = {length: _lasting(parts, length) for length in {length for length, *_ in laws}}
    power = [share * lasts[length][0] + 1 - share for length, share, _ in laws]
    of_mean = [share * lasts[length][1] + 1 - share for length, share, _ in laws]
    return Shapes(np.array(power), np.array(of_mean), np.array([prior for *_, prior in laws]))


def _lasting(parts: int, memory: float) -> tuple[Floats, float]:
    """Return the power of waves and mean of a series whose autocorrelation decays exponentially.

    Its variance, summed over all lags, is 1.
    """
    kept = np.exp(-1 / memory)
    lags = np.abs(np.subtract.outer(np.arange(parts), np.arange(parts)))
    covariance = kept**lags * (1 - kept) / (1 + kept)
    cosines = _cosines(parts)
    return np.einsum("wp,pq,wq->w", cosines, covariance, cosines), float(covariance.sum()) / parts
