"""Side by side with the Marconi artifact."""

from __future__ import annotations

import json
from functools import cache

import polars as pl
import pytest

from policies.registry import create
from simulator.simulation import Scenario, simulate
from tests.policies.reference.marconi_trace import (
    GB,
    KV_BYTES,
    STATE_BYTES,
    marconi_profile,
    marconi_trace,
)


@pytest.fixture
def folder(shared):
    return shared / "reference" / "marconi"


@cache
def saved_tokens(folder, requests, placer, eviction, capacity_gb):
    scenario = Scenario(
        profile=marconi_profile(),
        placer=create("placer", placer),
        eviction=create("eviction", eviction),
        admission=create("admission", "always"),
        capacity_bytes=None if capacity_gb is None else capacity_gb * GB,
        server="instant",
    )
    return simulate(marconi_trace(folder, requests), scenario).columns["saved_tokens"]


def percent(folder, requests, eviction, capacity_gb, placer="marconi"):
    tokens = marconi_trace(folder, requests).prompt_tokens.sum()
    return 100 * saved_tokens(folder, requests, placer, eviction, capacity_gb).sum() / tokens


def artifact(folder, **cell):
    rows = map(json.loads, (folder / "runs.jsonl").read_text().splitlines())
    return next(row for row in rows if cell.items() <= row.items())["token_hit"]


@pytest.mark.parametrize("requests", [1000, 4000])
def test_every_request_is_exact_without_a_bound(folder, requests):
    hits = pl.read_parquet(folder / f"hits_{requests}.parquet")
    dense = saved_tokens(folder, requests, "dense", "lru", None)
    assert dense.tolist() == hits["dense_lcp"].to_list()
    marconi = saved_tokens(folder, requests, "marconi", "lru", None)
    assert marconi.tolist() == hits["marconi_inf"].to_list()


def test_the_totals_are_those_of_the_reference(folder):
    found = [
        round(percent(folder, requests, "lru", None, placer), 3)
        for requests in (1000, 4000)
        for placer in ("marconi", "dense")
    ]
    assert found == [70.683, 84.1, 86.606, 92.8]


@pytest.mark.parametrize("capacity", [5, 10, 20, 40])
@pytest.mark.parametrize("requests", [1000, 4000])
def test_by_recency_alone_it_is_within_three_tenths(folder, requests, capacity):
    theirs = artifact(folder, n=requests, policy="v3", alpha=0.0, cap_gb=float(capacity))
    assert percent(folder, requests, "marconi:alpha=0", capacity) == pytest.approx(theirs, abs=0.3)


@pytest.mark.parametrize("capacity", [10, 40])
def test_what_parts_lru_from_theirs_is_that_only_leaves_go_there(folder, capacity):
    """Their LRU keeps the states above the leaves, and what a leaf held goes as a whole."""
    theirs = artifact(folder, n=1000, policy="v1", cap_gb=float(capacity))
    trace = marconi_trace(folder, 1000)
    saved = leaf_lru(trace, capacity * GB)
    assert 100 * saved / trace.prompt_tokens.sum() == pytest.approx(theirs, abs=0.3)
    assert percent(folder, 1000, "lru", capacity) >= theirs - 0.3


@pytest.mark.parametrize(
    ("requests", "capacity"), [(1000, 5), (1000, 10), (1000, 20), (1000, 40), (4000, 5)]
)
def test_marconi_tuned_does_not_lose_to_lru(folder, requests, capacity):
    lru = percent(folder, requests, "lru", capacity)
    assert percent(folder, requests, "marconi", capacity) >= lru - 0.5


def test_remembering_evicted_branch_points_pays(folder):
    """Where a prompt leaves what was seen, but is no longer held, is a branch point as well."""
    for capacity, points in ((5, 2.0), (10, 2.0)):
        ours = percent(folder, 1000, "lru", capacity, "marconi:remember=true")
        assert ours > percent(folder, 1000, "lru", capacity) + points


def leaf_lru(trace, capacity):
    """Return the tokens saved where only whole leaves of the tree of states are evicted."""
    above, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    parent, children, last, states, held = {}, {0: set()}, {}, set(), {0}
    used = saved = 0

    def insert(node, now):
        higher = above[node]
        while higher and higher not in parent:
            higher = above[higher]
        parent[node], children[node], last[node] = higher, set(), now
        for child in [c for c in children[higher] if node in trace.tree.path(c)]:
            children[higher].remove(child)
            children[node].add(child)
            parent[child] = node
        children[higher].add(node)

    for now, (leaf, end) in enumerate(zip(trace.leaf.tolist(), trace.after.tolist(), strict=True)):
        path = trace.tree.path(end)
        fork = max((n for n in path if n in held), key=stop.__getitem__, default=0)
        reached = [n for n in path if n in states and stop[n] < stop[leaf]]
        resume = stop[reached[-1]] if reached else 0
        saved += resume
        if fork and fork not in parent:
            insert(fork, now)
        if resume < stop[fork] <= stop[leaf] and fork not in states:
            states.add(fork)
            used += STATE_BYTES
        if end not in parent:
            insert(end, now)
        used += KV_BYTES * sum(stop[n] - stop[above[n]] for n in path if n not in held)
        held.update(path)
        used += STATE_BYTES * (end not in states)
        states.add(end)
        last |= {n: now for n in path if n in parent}
        while used > capacity:
            lowest = min((n for n in parent if not children[n]), key=lambda n: (last[n], n))
            node = lowest
            while node != parent[lowest]:
                held.remove(node)
                used -= KV_BYTES * (stop[node] - stop[above[node]])
                node = above[node]
            used -= STATE_BYTES * (lowest in states)
            states.discard(lowest)
            children[parent.pop(lowest)].remove(lowest)
            del last[lowest], children[lowest]
    return saved
