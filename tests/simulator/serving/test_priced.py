"""What the steps of a prompt take by a profile. A token takes a second, a restore half of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.costs.cost_model import CostModel
from simulator.costs.schema import CheckpointCost, Io, Link
from simulator.serving.priced import PricedExecutor
from simulator.serving.step import Chunk, Step
from tests.simulator.caches import begin, cache_of, finish
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

PROFILE = replace(
    toy_profile(),
    io=Io(d2d=Link(latency_us=5e5, gbps=1e12)),
    checkpoint=CheckpointCost(cut_overhead=3e6, snapshot_us_per_mib=0.0),
)


def second_of(prompts, *positions, answers=None):
    """Return the second request, its states planned, when the first has been served."""
    cache = cache_of(trace_of(prompts, answers=answers), Wanted(*positions))
    finish(cache, begin(cache, 0))
    return begin(cache, 1)


def seconds_of(running, *stops):
    """Return what the steps of a request take that end at these tokens."""
    executor, start, prices = PricedExecutor(CostModel(PROFILE), 10), running.computed, []
    for stop in stops:
        prices.append(executor.seconds(Step([Chunk(running, start, stop)])))
        start = stop
    return prices


def test_chunks_take_what_the_whole_takes_and_the_first_restores():
    running = second_of([(1, 2, 3), (1, 2, 4, 5, 6, 7)], 2)
    assert seconds_of(running, 6) == [(0.5, pytest.approx(4.0), 0.0)]
    assert seconds_of(running, 3, 6) == [
        (0.5, pytest.approx(1.0), 0.0),
        (0.0, pytest.approx(3.0), 0.0),
    ]


def test_nothing_is_restored_for_a_prompt_from_its_start():
    running = second_of([(1,), (2, 2, 2, 2)])
    assert seconds_of(running, 4) == [(0.0, pytest.approx(4.0), 0.0)]


def test_a_state_inside_a_prompt_cuts_its_prefill():
    running = second_of([(1,), (2, 2, 2, 2)], 3)
    assert seconds_of(running, 4) == [(0.0, pytest.approx(4.0), pytest.approx(3.0))]


def test_what_lies_behind_the_prompt_costs_no_prefill():
    running = second_of([(1,), (2, 2)], answers=[(), (3, 3, 3)])
    (whole,) = seconds_of(running, 5)
    assert whole == seconds_of(running, 2, 5)[0]
    assert seconds_of(running, 2, 5)[1] == (0.0, 0.0, 0.0)
