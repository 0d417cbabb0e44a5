"""Burstiness of arrivals compared with a Poisson process, and artefacts of coarse timestamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workloads.ticks import jitter, tick_seconds

Float64 = NDArray[np.float64]

WINDOWS_SECONDS = (1.0, 3.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 21600.0)
LEAST_WINDOWS = 10
JITTER_SEED = 0


@dataclass(frozen=True, slots=True)
class Dispersion:
    """Index of dispersion (variance / mean) of the arrivals in windows of one length.

    Parameters
    ----------
    window_seconds, windows
        Length and number of the windows.
    index
        The index of dispersion: 1 for a Poisson process.
    poisson_low, poisson_high
        Bounds that hold 95 % of Poisson processes (chi-square / degrees of freedom).
    """

    window_seconds: float
    windows: int
    index: float
    poisson_low: float
    poisson_high: float


@dataclass(frozen=True, slots=True)
class Burstiness:
    """Statistics of the arrival times of a trace.

    Parameters
    ----------
    requests_per_second
        Mean rate from the first arrival to the last.
    gap_cv
        Standard deviation / mean of interarrival times: 1 for a Poisson process.
    distinct_times
        Number of different arrival times.
    tick_is_artefact
        Whether most requests share their timestamp with another because of its resolution. Then
        interarrival times reflect the clock, and only windows of whole ticks reflect the traffic.
    tick_seconds
        The resolution of these timestamps; None without an artefact.
    jittered_gap_cv
        `gap_cv` after spreading arrivals at random within their tick; None without an artefact.
    dispersion
        One value for each window length, rounded up to whole ticks.
    """

    requests_per_second: float
    gap_cv: float
    distinct_times: int
    tick_is_artefact: bool
    tick_seconds: float | None
    jittered_gap_cv: float | None
    dispersion: tuple[Dispersion, ...]


def burstiness(times: Float64) -> Burstiness | None:
    """Return statistics of ascending arrival times in seconds, None if all are equal."""
    span = float(times[-1] - times[0])
    if not span > 0:
        return None
    distinct = np.unique(times)
    tick = coarse_tick(distinct, len(times))
    return Burstiness(
        requests_per_second=(len(times) - 1) / span,
        gap_cv=_gap_cv(times),
        distinct_times=len(distinct),
        tick_is_artefact=tick is not None,
        tick_seconds=tick,
        jittered_gap_cv=None if tick is None else _gap_cv(jitter(times, tick, JITTER_SEED)),
        dispersion=tuple(_dispersions(times - times[0], span, tick)),
    )


def coarse_tick(distinct: Float64, count: int) -> float | None:
    """Return the timestamp resolution in seconds if it merges separate arrivals, else None.

    That is assumed if fewer than half of the times of `count` requests are different and the
    resolution is no finer than the mean interarrival time.
    """
    if 2 * len(distinct) >= count:
        return None
    tick = tick_seconds(distinct)
    coarse = tick is not None and tick * (count - 1) >= distinct[-1] - distinct[0]
    return tick if coarse else None


def _gap_cv(times: Float64) -> float:
    gaps = np.diff(times)
    return float(gaps.std() / gaps.mean())


def _dispersions(times: Float64, span: float, tick: float | None) -> list[Dispersion]:
    wanted = WINDOWS_SECONDS
    if tick is not None:  # moves ticks away from the edges of windows
        times = times + tick / 2
        wanted = tuple(dict.fromkeys(np.ceil(w / tick - 1e-9).item() * tick for w in wanted))
    long_enough = [window for window in wanted if span // window >= LEAST_WINDOWS]
    return [dispersion(times, window, int(span // window)) for window in long_enough]


def dispersion(times: Float64, window: float, windows: int) -> Dispersion:
    """Return the dispersion of arrivals (seconds from 0) in the first `windows` windows."""
    from scipy.special import chdtri

    at = (times / window).astype(np.int64)
    counts = np.bincount(at[at < windows], minlength=windows)
    low, high = (chdtri(windows - 1, [0.975, 0.025]) / (windows - 1)).tolist()  # upper tails
    index = float(counts.var(ddof=1) / counts.mean())
    return Dispersion(window, windows, index, low, high)
