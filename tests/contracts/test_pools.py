"""Every eviction policy as the order of a pool of KV, of states, or of both."""

import numpy as np
import pytest

from policies.registry import create
from simulator.base.errors import UsageError
from simulator.simulation import Scenario, simulate
from tests.contracts.plugins import names
from tests.simulator.prompts import toy_profile, trace_of

STATES = 4


def prompts(seed):
    """Return prompts over a few documents, of which many are continued."""
    rng = np.random.default_rng(seed)
    documents = [tuple(rng.integers(0, 3, 12).tolist()) for _ in range(4)]
    chosen = []
    for _ in range(80):
        shared = documents[rng.integers(4)][: rng.integers(1, 13)]
        chosen.append(shared + tuple(rng.integers(0, 2, rng.integers(0, 7)).tolist()))
    return chosen


def replay(
    kv, states, *, seed, admission="always", server="instant", pools=f"split:states={STATES}"
):
    trace = trace_of(prompts(seed), list(np.arange(80) * 7.0))
    scenario = Scenario(
        toy_profile(page_tokens=2 if seed % 2 else 1),
        lambda: create("placer", "block:size=3"),
        {"kv": lambda: create("eviction", kv), "states": lambda: create("eviction", states)},
        lambda: create("admission", admission),
        capacity_bytes=10 * STATES + 36,
        pools=pools,
        server=server,
        check_every_request=True,
    )
    return simulate(trace, scenario)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spec", names("eviction"))
def test_any_order_rules_a_pool_alone(spec, seed):
    for kv, states in ((spec, "lru"), ("lru", spec), (spec, spec)):
        result = replay(kv, states, seed=seed, server="queue" if seed == 3 else "instant")
        by_name = {pool.pool: pool for pool in result.counters.pools}
        assert list(by_name) == ["kv", "states"]
        assert by_name["kv"].peak_bytes <= 36
        assert by_name["kv"].kv_evicted_bytes > 0 or "bypass" in spec or "clairvoyant" in spec
        assert by_name["states"].checkpoint_peak_count <= STATES
        assert by_name["states"].checkpoints_evicted > 0
        assert (by_name["kv"].checkpoint_peak_count, by_name["states"].kv_peak_bytes) == (0, 0)


@pytest.mark.parametrize("spec", names("eviction"))
def test_admission_that_looks_ahead_sees_the_pool_of_its_candidate(spec):
    if create("eviction", spec).clairvoyant:
        return
    result = replay(spec, spec, seed=5, admission="value")
    assert result.counters.peak_bytes <= 10 * STATES + 36


def test_states_that_leave_with_their_kv_free_nothing_in_its_pool():
    """With room for 4 tokens, the KV of a new prompt of 4 needs all that is there."""
    trace = trace_of([(1, 1, 1, 1), (2, 2, 2, 2)])
    scenario = Scenario(
        toy_profile(),
        lambda: create("placer", "last"),
        lambda: create("eviction", "lru"),
        lambda: create("admission", "always"),
        capacity_bytes=10 * 8 + 4,
        pools="split:states=8",
        server="instant",
        check_every_request=True,
    )
    result = simulate(trace, scenario)
    assert result.columns["kv_bytes"].tolist() == [4, 4]
    assert result.columns["checkpoints_resident"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("pools", "problem"),
    [
        ("split", "unknown pools 'split'"),
        ("split:states=", "unknown pools"),
        ("split:states=5000", "more than the capacity"),
        ("split:states=1GiB", "more than the capacity"),
        ("unified", "eviction policies of the pools kv, states"),
    ],
)
def test_wrong_pools_are_one_line(pools, problem):
    with pytest.raises(UsageError, match=problem):
        replay("lru", "lru", seed=0, pools=pools)
