from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reports.results.memory import RememberedRequests, memory_requests

Floats = NDArray[np.float64]
NOTHING = 12.0  # requests: of twelve bursts of one


def requests(
    session: NDArray[np.int64] | None = None,
    arrival: Floats | None = None,
    busy: Floats | None = None,
    count: int = 4000,
) -> RememberedRequests:
    """Return requests of 1,000 tokens; the server is idle where nothing is said of it."""
    busy = np.zeros(count) if busy is None else busy
    return RememberedRequests(session, np.full(count, 1000), arrival, busy)


def poisson(rate: float = 1.0, seed: int = 1) -> Floats:
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, 4000))


def test_requests_that_know_nothing_of_each_other_are_forgotten() -> None:
    assert memory_requests(requests()) == 0
    assert memory_requests(requests(arrival=np.linspace(0, 1, 4000))) == NOTHING
    assert memory_requests(requests(count=1)) == 1


def test_a_session_is_remembered_for_half_its_span() -> None:
    """Pairs that are 100 requests apart; weighted by tokens, of which a single request has half."""
    session = np.concatenate([np.arange(100), np.arange(100)])
    assert memory_requests(requests(session, count=200)) == 50
    alone = np.append(session, 100)
    sessions = RememberedRequests(alone, np.append(np.full(200, 10), 2000), None, np.zeros(201))
    assert memory_requests(sessions) == 25


def test_a_few_sessions_among_many_requests_do_not_count() -> None:
    session = np.full(4000, -1)
    session[[0, -1]] = 0
    assert memory_requests(requests(session)) == 0


def test_sessions_as_long_as_the_trace_are_remembered_for_half_of_it() -> None:
    session = np.arange(4000) % 10
    assert memory_requests(requests(session)) == pytest.approx(2000, rel=0.01)


@pytest.mark.parametrize("load", [0.3, 0.6])
def test_a_queue_is_remembered_as_the_autocorrelation_of_its_waits(load: float) -> None:
    """Waits of M/M/1, in a long run; the load is taken to be higher, and the tails heavier."""
    generator = np.random.default_rng(2)
    arrival, busy = np.cumsum(generator.exponential(1, 4000)), generator.exponential(load, 4000)
    remembered = memory_requests(requests(arrival=arrival, busy=busy)) - NOTHING
    gaps, service = generator.exponential(1, 400_000), generator.exponential(load, 400_000)
    walk = np.cumsum(service[:-1] - gaps[1:])
    waits = walk - np.minimum(np.minimum.accumulate(walk), 0)
    batches = waits[: len(waits) // 1000 * 1000].reshape(-1, 1000).mean(axis=1)
    memory = 1000 * batches.var() / waits.var() / 2
    assert 6 * memory < remembered < 24 * memory


def test_a_queue_that_grows_is_never_forgotten() -> None:
    arrival = np.linspace(0, 4000, 4000)
    assert memory_requests(requests(arrival=arrival, busy=np.full(4000, 1.01))) == 4000


def test_bursts_are_remembered_twelve_at_a_time() -> None:
    """A hundred requests at once, 40 times: their number in a bin is a hundred times Poisson."""
    generator = np.random.default_rng(3)
    bursts = np.sort(np.repeat(generator.uniform(0, 1000, 40), 100))
    remembered = memory_requests(requests(arrival=bursts))
    assert remembered > 12 * 50
    assert memory_requests(requests(arrival=poisson())) < 12 * 4
    # one session each: its other requests are no burst
    session = np.repeat(np.arange(40), 100)
    spread = np.sort(generator.uniform(0, 1000, 4000))
    assert memory_requests(requests(session, spread)) > 12 * 100
