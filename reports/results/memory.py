"""Memory of a replay: over how many later requests the effect of one request lasts.

The measurements of a request depend on earlier requests: on the turns of its session, on the queue
that they left, and on a burst in which they arrived together. The error of a mean can be estimated
from blocks of time only if the replay is many times longer than this dependence. Its length can be
estimated far better from the requests than from the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from simulator.results.result import Result
    from simulator.trace.trace import Trace

Floats = NDArray[np.float64]
_SESSIONS_COUNT = 0.1  # share of tokens in sessions below which sessions are ignored
_BURSTS = 12.0  # bursts differ greatly: correlation length in bursts
_BINS, _FINER = 16, 16  # bins of time, and narrow bins in each of them
_RUNNING = 2  # bins left out: the first requests seen of older sessions would count as starts
_QUEUE_TAILS = 8.0  # factor on the correlation length of waits, whose distribution is skewed


@dataclass(frozen=True, slots=True, eq=False)
class RememberedRequests:
    """Columns from which the correlation length is estimated: one value per request, by arrival.

    Requests of the warm-up are left out.
    """

    # requests with the same number share a session; negative where unknown
    session: NDArray[np.integer[Any]] | None
    prompt_tokens: NDArray[np.int64]
    arrival_seconds: Floats | None  # float64, ascending; None where unknown
    busy_seconds: Floats  # float64: how long the server works on each

    @classmethod
    def of(cls, trace: Trace, result: Result, warmup_share: float) -> RememberedRequests:
        """Take the requests of a replay behind its warm-up."""
        rows = result.rows_after(warmup_share)
        return cls(
            trace.session[rows["request"]],
            rows["prompt_tokens"],
            rows["arrival_seconds"] if trace.arrival_seconds is not None else None,
            busy_seconds(rows),
        )


def busy_seconds(rows: dict[str, NDArray[Any]]) -> Floats:
    """Return how long the server was busy with each request; 0 for those it did not serve."""
    parts = (rows[f"{what}_seconds"] for what in ("restore", "prefill", "capture"))
    seconds: Floats = np.nan_to_num(sum(parts, np.zeros(len(rows["request"]))))
    return seconds


def memory_requests(requests: RememberedRequests) -> float:
    """Return over how many later requests the effect of a request lasts, at most all of them."""
    count = len(requests.prompt_tokens)
    if count < 2:
        return float(count)
    remembered = _of_sessions(requests) + _of_bursts(requests) + _of_the_queue(requests)
    return float(min(remembered, count))


def _of_sessions(requests: RememberedRequests) -> float:
    """Return the correlation length due to sessions, in requests: half their mean span.

    The span of a session is the number of requests from its first to its last, and the mean is
    weighted by prompt tokens. Half of it is the integral of the autocorrelation of a series made
    of spells of random length. A session of one request has span 0. The result is 0 where sessions
    are unknown or have a small share of the tokens.
    """
    session = requests.session
    if session is None or not len(session):
        return 0.0
    known = session >= 0
    places = np.flatnonzero(known)
    _, number = np.unique(session[known], return_inverse=True)
    if not len(number):
        return 0.0
    first, last = (
        np.full(number.max() + 1, len(session)),
        np.zeros(number.max() + 1, dtype=np.int64),
    )
    np.minimum.at(first, number, places)
    np.maximum.at(last, number, places)
    tokens = np.bincount(number, requests.prompt_tokens[known].astype(np.float64))
    if tokens.sum() < _SESSIONS_COUNT * requests.prompt_tokens.sum():
        return 0.0
    return float(tokens @ (last - first)) / float(tokens.sum()) / 2


def _of_the_queue(requests: RememberedRequests) -> float:
    """Return the correlation length of waiting times, in requests; infinite if the queue grows.

    It is the integral of the autocorrelation of waiting times in an M/M/1 queue, times the mean of
    the squared coefficients of variation of interarrival and service times (1 in M/M/1; that of
    interarrival times is taken as 1), times the safety factor `_QUEUE_TAILS`.

    References
    ----------
    Daley (1968), "The serial correlation coefficients of waiting times in a stationary single
    server queue"; Whitt (1989), "Planning queueing simulations".
    """
    busy, arrival = requests.busy_seconds, requests.arrival_seconds
    if arrival is None or not busy.any() or arrival[-1] <= arrival[0]:
        return 0.0
    load = _most_load(arrival, busy)
    if load >= 1:
        return np.inf
    sums = 2 + 5 * load - 4 * load**2 + load**3
    lasting = sums / ((1 - load) ** 2 * (2 - load))
    variability = (1 + float(busy.var() / busy.mean() ** 2)) / 2
    return lasting * variability * _QUEUE_TAILS


def _most_load(arrival_seconds: Floats, busy_seconds: Floats) -> float:
    """Return the offered load (work per second of time), plus two of its standard errors."""
    edges = np.linspace(arrival_seconds[0], arrival_seconds[-1], _BINS + 1)
    work = np.histogram(arrival_seconds, edges, weights=busy_seconds)[0] / np.diff(edges)
    return float(work.mean() + 2 * work.std(ddof=1) / np.sqrt(_BINS))


def _of_bursts(requests: RememberedRequests) -> float:
    """Return the correlation length due to bursts of arrivals: the requests in `_BURSTS` bursts.

    A burst is a cluster of starts, which are first requests of sessions and requests without a
    session. The index of dispersion of starts (the variance of their number in a bin of time over
    its mean) is 1 for a Poisson process and otherwise about the number of starts in a burst. Where
    bursts outlast a bin, the index is larger for wider bins, and the bursts differ more from each
    other. So the index of the wide bins is multiplied by its ratio to that of the narrow ones. The
    result is infinite if there are fewer starts than bins.

    References
    ----------
    Cox and Lewis (1966), "The statistical analysis of series of events", chapter 4.
    """
    arrival = requests.arrival_seconds
    if arrival is None or arrival[-1] <= arrival[0]:
        return 0.0
    starts = arrival[_starts(requests)]
    edges = np.linspace(arrival[0], arrival[-1], _BINS * _FINER + 1)[_RUNNING * _FINER :]
    fine = np.histogram(starts, edges)[0]
    counts = fine.reshape(-1, _FINER).sum(axis=1)
    if counts.sum() < len(counts):
        return np.inf
    dispersion, within = (max(_dispersion(each), 1.0) for each in (counts, fine))
    per_start = float((arrival >= edges[0]).sum()) / float(counts.sum())
    return _BURSTS * dispersion * max(dispersion / within, 1.0) * per_start


def _dispersion(counts: NDArray[np.int64]) -> float:
    return float(counts.var(ddof=1) / counts.mean())


def _starts(requests: RememberedRequests) -> NDArray[np.bool_]:
    """Return which requests are the first of their session or belong to none."""
    count = len(requests.prompt_tokens)
    if requests.session is None:
        return np.ones(count, dtype=bool)
    starts = requests.session < 0
    starts[np.unique(requests.session, return_index=True)[1]] = True
    return starts
