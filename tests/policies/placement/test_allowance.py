"""The hard limit on new checkpoints."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.catalogue import open_profile
from policies.placement.allowance import Allowance
from policies.registry import create
from simulator.simulation import Scenario, simulate
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.synthetic import read_generator

TRACES = ("chats", "agents", "thoughts", "documents", "0.5 documents:count=20 + 0.5 chats")


def limit(rate: float, requests: int) -> float:
    return max(rate * (requests + 8), rate * requests + 1)


def test_by_hand() -> None:
    allowance = Allowance(rate=0.5)  # 4 at first, and half a checkpoint with each request
    assert allowance.ask(0, 3) == 3
    assert allowance.ask(1, 3) == 2
    assert allowance.ask(1, 1) == 1  # the next chunk of it gives back two
    allowance.settle(0, written=1)
    assert allowance.ask(2, 5) == 3  # 4 + 1.5 - 1 - 1
    assert Allowance(rate=0.01).ask(0, 2) == 1


def test_what_is_withheld_is_an_excess_as_if_it_were_written() -> None:
    one, other = Allowance(rate=1.0), Allowance(rate=1.0)
    one.ask(0, 20)
    other.ask(0, 9)
    assert one.settle(0, written=9) == other.settle(0, written=9) + 11


@given(
    rate=st.floats(0.01, 4.0),
    wanted=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=60),
)
def test_no_more_is_written_than_the_limit(
    rate: float, wanted: list[tuple[int, int, bool]]
) -> None:
    allowance, written, open_requests = Allowance(rate), 0, []
    for request, (asked, fewer, ends) in enumerate(wanted):
        promised = allowance.ask(request, asked)
        assert promised <= asked
        open_requests.append((request, max(0, promised - fewer)))
        if ends:
            number, count = open_requests.pop(0)
            allowance.settle(number, count)
            written += count
        assert written <= limit(rate, request + 1) + 1e-6


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("trace", TRACES)
def test_adaptive_never_writes_more_than_its_rate(trace: str, rate: float) -> None:
    requests = read_generator(trace).trace(400, 7, Poisson(rate=5.0), Drift())
    for server in ("instant", "queue"):
        scenario = Scenario(
            profile=open_profile("qwen3.5-9b-h200"),
            placer=partial(create, "placer", f"adaptive:rate={rate}"),
            eviction=partial(create, "eviction", "lru"),
            admission=partial(create, "admission", "always"),
            server=server,
            alignment=1,
        )
        written = simulate(requests, scenario).columns["checkpoints_written"]
        begun = np.arange(1, len(written) + 1)
        most = np.maximum(rate * (begun + 8), rate * begun + 1)
        if server == "instant":  # elsewhere later requests may have begun before
            assert (np.cumsum(written) <= most + 1e-6).all()
        assert written.sum() <= most[-1] + 1e-6
