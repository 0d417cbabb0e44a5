"""Errors of simulated against measured times, by regime (kind of request); numpy only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.prototype.served import Served

CHUNK_TOKENS = 64  # suffixes up to this size are one chunk of the recurrent layers
REGIMES = ("miss", "cut", "replay", "short suffix", "long suffix")


@dataclass(frozen=True, slots=True)
class RegimeError:
    """Errors of the requests of one regime, relative to measured times.

    Parameters
    ----------
    regime
        Name of the regime; "all" for all requests.
    requests
        Number of requests.
    simulated_seconds, measured_seconds
        Sums over the requests, in seconds.
    bias
        Relative error of the sums (positive: the simulation overestimates).
    median, median_absolute
        Medians of the signed and of the absolute errors.
    worst, worst_request
        The largest error with its sign, and the index of its request.
    """

    regime: str
    requests: int
    simulated_seconds: float
    measured_seconds: float
    bias: float
    median: float
    median_absolute: float
    worst: float
    worst_request: int


def regime_of(request: Served) -> str:
    """Return the regime of a request: "miss", "cut", "replay", "short suffix" or "long suffix".

    A request whose pass is cut to store states is "cut", whether it resumed or not. "replay" means
    that more tokens are recomputed than are new.
    """
    if request.cuts:
        return "cut"
    if not request.saved_tokens:
        return "miss"
    new_tokens = request.prompt_tokens - request.overlap_tokens
    if request.overlap_tokens - request.saved_tokens > new_tokens:
        return "replay"
    return "short suffix" if request.computed_tokens <= CHUNK_TOKENS else "long suffix"


def service_errors(requests: Sequence[Served]) -> list[RegimeError]:
    """Return errors of simulated service times: of all requests, then of each regime.

    Regimes are kinds of requests, see `regime_of`; those without requests are omitted.
    """
    return _errors(requests, lambda r: r.priced.service, lambda r: r.measured_seconds)


def ttft_errors(requests: Sequence[Served]) -> list[RegimeError]:
    """Return errors of simulated times to first token: of all requests, then of each regime.

    Times include waiting. Regimes are kinds of requests, see `regime_of`; those without requests
    are omitted.
    """
    return _errors(requests, lambda r: r.simulated_ttft_seconds, lambda r: r.measured_ttft_seconds)


def noise(requests: Sequence[Served]) -> float | None:
    """Return the relative spread between passes, a lower bound on meaningful errors.

    For each request, it is the second smallest time divided by the smallest, minus 1; the result is
    the median over requests, or None after a single pass.
    """
    if any(len(request.passes_seconds) < 2 for request in requests):
        return None
    best = [sorted(request.passes_seconds)[:2] for request in requests]
    return float(np.median([second / first - 1 for first, second in best]))


def _errors(
    requests: Sequence[Served],
    simulated: Callable[[Served], float],
    measured: Callable[[Served], float],
) -> list[RegimeError]:
    """Return errors by regime (kind of request), given functions for the two times."""
    said = np.array([simulated(request) for request in requests])
    found = np.array([measured(request) for request in requests])
    number = np.array([request.request for request in requests])
    regime = np.array([regime_of(request) for request in requests])
    rows = [_row("all", said, found, number)]
    for name in REGIMES:
        chosen = regime == name
        if chosen.any():
            rows.append(_row(name, said[chosen], found[chosen], number[chosen]))
    return rows


def _row(
    name: str, said: NDArray[np.float64], found: NDArray[np.float64], number: NDArray[np.int64]
) -> RegimeError:
    """Return the errors of the requests of one regime."""
    shares = said / found - 1
    worst = int(np.abs(shares).argmax())
    return RegimeError(
        regime=name,
        requests=len(shares),
        simulated_seconds=float(said.sum()),
        measured_seconds=float(found.sum()),
        bias=float(said.sum() / found.sum() - 1),
        median=float(np.median(shares)),
        median_absolute=float(np.median(np.abs(shares))),
        worst=float(shares[worst]),
        worst_request=int(number[worst]),
    )
