"""Where the overlaps of a drift study come from, and what is known of their law."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reports.drift.laws import distances, empirical
from reports.drift.traffic import knows_truth, laws_by_window, read_overlaps
from reports.drift.windows import cut
from reports.study.file import parse_study
from reports.study.layers import read_settings
from reports.study.sections import ResolvedStudy
from reports.study.traces import store_trace
from workloads.drift import read_drift
from workloads.synthetic import SessionGenerator, read_generator
from workloads.synthetic.truth import overlap_law, overlap_laws, total_variation

DRIFT = "shift:distance=0.4 + rewrites:times=2,moved=90"


def study(generator: str, drift: str = "", requests: int = 800) -> ResolvedStudy:
    values = {
        "workload.generator": generator,
        "workload.drift": drift,
        "workload.requests": requests,
    }
    return parse_study(
        read_settings(None, [(key, value, "a test") for key, value in values.items()])
    )


def test_true_laws_at_several_requests_are_those_at_each() -> None:
    generator = read_generator("0.5 documents:count=9 + 0.5 system_prompts")
    assert isinstance(generator, SessionGenerator)
    numbers = [0, 10, 150, 399]
    laws = overlap_laws(generator, numbers, 400, 3, read_drift(DRIFT))
    for number, law in zip(numbers, laws, strict=True):
        alone = overlap_law(generator, number, 400, 3, read_drift(DRIFT))
        assert total_variation(law, alone) < 1e-12


def test_the_requests_of_a_window_follow_its_true_law(tmp_path: Path) -> None:
    """The Dvoretzky-Kiefer-Wolfowitz bound at one in a thousand for each window."""
    asked = study("system_prompts", "rewrites:times=1,moved=400", 4000)
    overlaps = read_overlaps(store_trace(asked, 5, tmp_path)[0], asked, 5)
    windows = cut(4000, 200)
    laws = laws_by_window(asked, overlaps, windows)
    assert knows_truth(asked)
    for window in windows.counted:
        assert laws[window].weights.sum() + laws[window].misses == pytest.approx(1)
        _, kolmogorov = distances(laws[window], empirical(windows.of(overlaps.depths, window)))
        assert kolmogorov < np.sqrt(np.log(2 / 0.001) / (2 * windows.width))


@pytest.mark.parametrize("generator", ["chats", "builtin", "0.9 documents + 0.1 agents"])
def test_of_sessions_of_several_requests_the_law_is_that_of_hindsight(
    generator: str, tmp_path: Path
) -> None:
    asked = study(generator)
    overlaps = read_overlaps(store_trace(asked, 0, tmp_path)[0], asked, 0)
    windows = cut(800, 200)
    assert not knows_truth(asked)
    laws = laws_by_window(asked, overlaps, windows)
    last = empirical(windows.of(overlaps.depths, windows.count - 1))
    assert np.array_equal(laws[-1].depths, last.depths)
    assert np.array_equal(laws[-1].weights, last.weights)
