from __future__ import annotations

from dataclasses import replace

import pytest

from calibration.prototype.queueing import at_load, priced_anew, with_waits
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from simulator.serving.priced import PricedExecutor
from simulator.trace.trace import Trace
from tests.calibration.prototype.requests import served


def test_each_kind_of_time_waits_behind_its_own_kind_of_service() -> None:
    arrivals = (0.0, 1.0, 1.0, 10.0)
    simulated, measured = (2.0, 1.0, 1.0, 1.0), (1.5, 2.0, 1.0, 1.0)
    requests = with_waits(
        served(index, *seconds, arrival_seconds=arrival)
        for index, (arrival, *seconds) in enumerate(zip(arrivals, simulated, measured, strict=True))
    )
    assert [request.simulated_wait_seconds for request in requests] == [0, 1, 2, 0]
    assert [request.measured_wait_seconds for request in requests] == [0, 0.5, 2.5, 0]
    assert [request.measured_ttft_seconds for request in requests] == [1.5, 2.5, 3.5, 1]


def test_requests_are_priced_anew_from_what_they_say_of_themselves(profile: Profile) -> None:
    executor = PricedExecutor(CostModel(profile), profile.state_bytes)
    request = served(prompt_tokens=300, saved_tokens=100, positions=(200, 300))
    again, whole = priced_anew([request, served(1, prompt_tokens=300)], executor)
    # F(n) = 4 ms + 1 ms n; 0.01 us a pair; 1 ms a capture; a cut costs one more F(0+).
    assert again.priced.restore == pytest.approx(3e-3, rel=1e-3)
    assert again.priced.prefill == pytest.approx(4e-3 + 0.2 + 1e-8 * 200 * 200)
    assert again.priced.capture == pytest.approx(2e-3 + 4e-3)
    assert (whole.priced.restore, whole.priced.capture) == (0, 0)
    assert replace(again, priced=request.priced) == request


def test_at_load_the_server_is_busy_that_share_of_the_time(
    documents: Trace, profile: Profile
) -> None:
    costs = CostModel(profile)
    stretched = at_load(documents, costs, 0.25)
    assert stretched.arrival_seconds is not None
    busy = sum(costs.prefill_seconds(0, int(tokens)) for tokens in documents.prompt_tokens)
    assert busy / stretched.arrival_seconds[-1] == pytest.approx(0.25)
