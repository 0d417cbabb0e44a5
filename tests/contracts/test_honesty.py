"""What is still to come changes nothing that has happened, unless a policy says so.

The prefix tree is made from the whole trace, so its nodes end where later prompts will diverge.
Here the same requests are replayed with and without those that follow, for every policy that does
not look ahead.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

from policies.registry import create
from simulator.results.records import COUNT_COLUMNS
from simulator.simulation import Scenario, simulate
from tests.contracts.plugins import names
from tests.contracts.test_placers import SPECS
from tests.simulator.prompts import toy_profile, trace_of

REQUESTS, PAST = 50, 25
CACHES = ((None, "tail"), (150, "tail"), (80, "tail"), (110, "span"))  # one for each trace


def traffic(seed):
    """Return prompts that continue, repeat and leave earlier ones, their answers, and arrivals.

    Some arrive together, so that spans are split while others use them, but none of the past
    together with one that follows.
    """
    rng = np.random.default_rng(seed)
    known = [tuple(rng.integers(0, 3, rng.integers(4, 30)).tolist()) for _ in range(4)]
    prompts, answers = [], []
    for _ in range(REQUESTS):
        base = known[rng.integers(len(known) if rng.random() < 0.6 else 4)]
        base = base[: rng.integers(1, len(base) + 1)]
        prompts.append((*base, *rng.integers(0, 3, rng.integers(1, 9)).tolist()))
        answers.append(tuple(rng.integers(0, 3, rng.integers(0, 5)).tolist()))
        known.append((*prompts[-1], *answers[-1]))
    gaps = rng.integers(0, 40, REQUESTS) * rng.integers(0, 2, REQUESTS)
    gaps[PAST] = 1
    return prompts, answers, np.cumsum(gaps).astype(float).tolist()


@cache
def traces(seed):
    """Return the whole trace of a seed, and its past."""
    prompts, answers, arrivals = traffic(seed)
    whole = trace_of(prompts, arrivals, answers=answers)
    return whole, trace_of(prompts[:PAST], arrivals[:PAST], answers=answers[:PAST])


def replay(trace, policies, capacity, cut):
    scenario = Scenario(
        toy_profile(state_bytes=6, page_tokens=2),
        *(partial(create, kind, policies[kind]) for kind in ("placer", "eviction", "admission")),
        capacity,
        cut=cut,
    )
    return simulate(trace, scenario).columns


def assert_honest(**named):
    """Check that requests that follow change no record of those before, on several traces."""
    policies = {"placer": "branch", "eviction": "lru", "admission": "always"} | named
    if any(create(kind, spec).clairvoyant for kind, spec in policies.items()):
        return
    for seed, (capacity, cut) in enumerate(CACHES):
        whole, past = (replay(trace, policies, capacity, cut) for trace in traces(seed))
        for name in COUNT_COLUMNS:
            assert whole[name][:PAST].tolist() == past[name].tolist(), (name, seed)


@pytest.mark.parametrize("placer", SPECS)
@pytest.mark.parametrize("eviction", ["lru", "fifo"])
def test_placers_do_not_see_what_comes(placer, eviction):
    assert_honest(placer=placer, eviction=eviction)


@pytest.mark.parametrize("eviction", names("eviction"))
@pytest.mark.parametrize("placer", ["adaptive", "branch", "block:size=3", "dense"])
def test_eviction_policies_do_not_see_what_comes(placer, eviction):
    assert_honest(placer=placer, eviction=eviction)


@pytest.mark.parametrize("admission", names("admission"))
@pytest.mark.parametrize("eviction", ["lru", "gdsf", "s3fifo"])
def test_admission_policies_do_not_see_what_comes(admission, eviction):
    assert_honest(admission=admission, eviction=eviction)
