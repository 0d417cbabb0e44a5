from __future__ import annotations

import pytest

from calibration.prototype.errors import noise, regime_of, service_errors, ttft_errors
from tests.calibration.prototype.requests import served


@pytest.mark.parametrize(
    ("fields", "regime"),
    [
        ({}, "miss"),
        ({"positions": (100,)}, "miss"),  # a state at the end cuts nothing
        ({"positions": (64, 100)}, "cut"),
        ({"saved_tokens": 10, "overlap_tokens": 50, "positions": (64,)}, "cut"),
        ({"saved_tokens": 36, "overlap_tokens": 36}, "short suffix"),
        ({"saved_tokens": 35, "overlap_tokens": 35}, "long suffix"),
        ({"saved_tokens": 20, "overlap_tokens": 60}, "long suffix"),  # 40 again, 40 new
        ({"saved_tokens": 20, "overlap_tokens": 61}, "replay"),
        ({"saved_tokens": 90, "overlap_tokens": 99}, "replay"),
    ],
)
def test_a_request_has_one_regime(fields: dict[str, object], regime: str) -> None:
    assert regime_of(served(**fields)) == regime


def test_errors_are_those_worked_by_hand() -> None:
    requests = [
        served(0, simulated=1.1, measured=1.0),
        served(1, simulated=1.6, measured=2.0),
        served(2, simulated=4.0, measured=4.0, saved_tokens=40, overlap_tokens=40),
    ]
    everything, miss, suffix = service_errors(requests)
    assert (everything.regime, miss.regime, suffix.regime) == ("all", "miss", "short suffix")
    assert (everything.requests, miss.requests) == (3, 2)
    assert everything.bias == pytest.approx(6.7 / 7 - 1)
    assert miss.bias == pytest.approx(2.7 / 3 - 1)
    assert miss.median == pytest.approx(-0.05)
    assert miss.median_absolute == pytest.approx(0.15)
    assert (miss.worst, miss.worst_request) == (pytest.approx(-0.2), 1)
    assert suffix.bias == suffix.worst == 0


def test_waits_count_in_times_to_first_token() -> None:
    request = served(
        simulated=1.0, measured=2.0, simulated_wait_seconds=2.0, measured_wait_seconds=2.0
    )
    assert ttft_errors([request])[0].bias == pytest.approx(3 / 4 - 1)


def test_noise_is_the_second_best_pass_over_the_best() -> None:
    requests = [served(passes_seconds=(2.0, 1.0, 1.1)), served(passes_seconds=(1.0, 1.2, 9.0))]
    assert noise(requests) == pytest.approx(0.15)
    assert noise([*requests, served(passes_seconds=(1.0,))]) is None
