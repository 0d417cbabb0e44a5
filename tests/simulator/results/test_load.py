"""Offered load, utilisation and the growing queue, against queues worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from policies.admission.always import Always
from policies.eviction.lru import Lru
from policies.registry import create
from simulator.results.load import Load, load_of
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from tests.simulator.prompts import toy_profile, trace_of

TOKENS = 4  # a prompt of so many distinct tokens: so many seconds at 1 s a token


def served(spacing: float, count: int = 40, **scenario: Any) -> Result:
    """Serve prompts that share nothing, of 4 s each, one every `spacing` seconds."""
    prompts = [tuple(range(TOKENS * k, TOKENS * (k + 1))) for k in range(count)]
    return simulated(prompts, [spacing * k for k in range(count)], **scenario)


def simulated(prompts: Any, arrivals: list[float], **scenario: Any) -> Result:
    plan = Scenario(
        toy_profile(),
        placer=lambda: create("placer", "block:size=1"),
        eviction=Lru,
        admission=Always,
    )
    return simulate(trace_of(prompts, arrivals), replace(plan, **scenario))


def load(result: Result, share: float = 0.0) -> Load:
    fields = result.load(share)
    assert fields is not None
    return Load(**fields)


def test_a_stable_queue() -> None:
    figures = load(served(5.0))
    assert figures.offered_load == pytest.approx(4 / 5)
    assert figures.offered_load_nothing_saved == pytest.approx(4 / 5)
    assert figures.utilisation == pytest.approx(4 / 5)
    assert figures.wait_last_quarter_seconds == 0.0
    assert not figures.queue_grows


def test_an_overloaded_queue() -> None:
    # 40 requests in 39 gaps of 2.5 s; the k-th waits 1.5 k seconds, and is busy to the end
    figures = load(served(2.5))
    assert figures.offered_load == pytest.approx(4 / 2.5)
    assert figures.utilisation == pytest.approx(1.0)
    waits = [1.5 * k for k in range(40) if 2.5 * k >= 0.75 * 97.5]
    assert figures.wait_last_quarter_seconds == pytest.approx(np.mean(waits))
    assert figures.queue_grows


def test_the_server_works_on_and_that_is_not_counted() -> None:
    # 6 requests of 4 s at 0, 1, ..., 5: busy for 24 s, of which 5 s pass before the last arrival
    figures = load(served(1.0, 6))
    assert figures.utilisation == pytest.approx(1.0)
    assert figures.offered_load == pytest.approx(4.0)


def test_what_is_saved_is_no_load_as_it_is() -> None:
    # the same 4 tokens again and again: 4 s once, then 1 s (the last token)
    figures = load(simulated([(1, 2, 3, 4)] * 41, [2.0 * k for k in range(41)]))
    assert figures.offered_load_nothing_saved == pytest.approx(2.0)
    assert figures.offered_load == pytest.approx((4 + 39 * 1) / 80)
    assert figures.utilisation == pytest.approx((4 + 39 * 1) / 80)
    assert not figures.queue_grows


def test_a_queue_that_was_worked_off_does_not_grow() -> None:
    # a burst of ten at once, then one every 8 s
    arrivals = [0.1 * k for k in range(10)] + [8.0 * k for k in range(1, 31)]
    prompts = [tuple(range(TOKENS * k, TOKENS * (k + 1))) for k in range(40)]
    figures = load(simulated(prompts, arrivals))
    assert figures.offered_load == pytest.approx(39 * 4 / 240)
    assert not figures.queue_grows


def test_a_queue_that_begins_to_grow_in_the_last_half_does() -> None:
    arrivals = [20.0 * k for k in range(20)] + [400.0 + 3.0 * k for k in range(130)]
    prompts = [tuple(range(TOKENS * k, TOKENS * (k + 1))) for k in range(150)]
    figures = load(simulated(prompts, arrivals))
    assert figures.offered_load is not None
    assert figures.offered_load < 1
    assert figures.queue_grows


def test_random_arrivals_below_capacity_do_not_grow() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        arrivals = np.cumsum(rng.exponential(5.0, 400))
        prompts = [tuple(range(TOKENS * k, TOKENS * (k + 1))) for k in range(400)]
        assert not load(simulated(prompts, (arrivals - arrivals[0]).tolist())).queue_grows


def test_a_horizon_counts_what_runs_and_waits_at_it() -> None:
    # the arrivals go on to 30 s at least, which is the last before the horizon
    figures = load(served(2.5, horizon_seconds=31.0))
    assert figures.utilisation == pytest.approx(1.0)
    assert figures.offered_load == pytest.approx(4 / 2.5)
    assert figures.queue_grows


def test_rejected_requests_are_offered() -> None:
    figures = load(served(1.0, 41, queue_limit=1))
    assert figures.offered_load == pytest.approx(4.0)
    assert figures.utilisation == pytest.approx(1.0)


def test_warm_up_is_left_out_but_keeps_the_server_busy() -> None:
    # counted from the request at 2.5 * 20 = 50 s on, when 12 have been served
    figures = load(served(2.5), 0.5)
    assert figures.offered_load == pytest.approx(4 / 2.5)
    assert figures.utilisation == pytest.approx(1.0)


def test_where_there_is_no_load_to_tell() -> None:
    assert served(1.0, 5, server="instant").load() is None
    assert load(served(0.0, 5)) == Load()
    assert load(served(1.0, 1)) == Load()
    empty = served(1.0, 1)
    rows = {name: column[:0] for name, column in empty.columns.items()}
    assert load_of(rows, np.zeros(0), 0, 0.0) == Load()
