"""What is still to come changes nothing that has happened, unless a policy says so.

The prefix tree is made from the whole trace, so its nodes split where later prompts will diverge.
Here the same requests are replayed with and without those that follow.
"""

from __future__ import annotations

import numpy as np
import pytest

from policies.registry import create
from simulator.records import COUNT_COLUMNS
from simulator.simulation import Scenario, simulate
from tests.contracts.test_placers import SPECS
from tests.simulator.prompts import toy_profile, trace_of

REQUESTS, PAST = 50, 25
# `random` draws its positions by the run in which a prompt ends, and `marconi` looks for the end
# of a whole run: both depend on how the tree is cut, and so on later requests.
CUT = {"random", "marconi"}


def traffic(seed):
    """Return prompts that continue, repeat and leave earlier ones, and when they arrive."""
    rng = np.random.default_rng(seed)
    documents = [tuple(rng.integers(0, 3, rng.integers(4, 30)).tolist()) for _ in range(4)]
    prompts = []
    for _ in range(REQUESTS):
        known = documents[rng.integers(4)]
        if prompts and rng.random() < 0.6:
            known = prompts[rng.integers(len(prompts))]
            known = known[: rng.integers(1, len(known) + 1)]
        prompts.append((*known, *rng.integers(0, 3, rng.integers(1, 9)).tolist()))
    return prompts, np.cumsum(rng.integers(1, 40, REQUESTS)).astype(float).tolist()


def replay(prompts, arrivals, placer, eviction, capacity):
    scenario = Scenario(
        toy_profile(state_bytes=6),
        create("placer", placer),
        create("eviction", eviction),
        create("admission", "always"),
        capacity,
    )
    return simulate(trace_of(prompts, arrivals), scenario).columns


@pytest.mark.parametrize("placer", [spec for spec in SPECS if spec.partition(":")[0] not in CUT])
@pytest.mark.parametrize("eviction", ["lru", "fifo"])
def test_placers_do_not_see_what_comes(placer, eviction):
    if create("placer", placer).clairvoyant:
        return
    for seed, capacity in ((0, None), (1, 150), (2, 80)):
        prompts, arrivals = traffic(seed)
        whole = replay(prompts, arrivals, placer, eviction, capacity)
        past = replay(prompts[:PAST], arrivals[:PAST], placer, eviction, capacity)
        for name in COUNT_COLUMNS:
            assert whole[name][:PAST].tolist() == past[name].tolist(), name
