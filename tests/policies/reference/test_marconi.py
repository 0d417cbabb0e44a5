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
    marconi_profile,
    marconi_tokens,
    marconi_trace,
)
from tests.policies.reference.marconi_tree import MarconiTree

LEAF_LRU = "split_lru:first=kv"
PARTS_LRU = "split_lru:first=kv,parts=true"


@pytest.fixture
def folder(shared):
    return shared / "reference" / "marconi"


@cache
def saved_tokens(folder, requests, placer, eviction, capacity_gb, cut="tail"):
    scenario = Scenario(
        profile=marconi_profile(),
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", eviction),
        admission=lambda: create("admission", "always"),
        capacity_bytes=None if capacity_gb is None else int(capacity_gb * GB),
        server="instant",
        cut=cut,
    )
    return simulate(marconi_trace(folder, requests), scenario).columns["saved_tokens"]


def percent(folder, requests, eviction, capacity_gb, placer="marconi", cut="tail"):
    tokens = marconi_trace(folder, requests).prompt_tokens.sum()
    saved = saved_tokens(folder, requests, placer, eviction, capacity_gb, cut)
    return 100 * saved.sum() / tokens


def artifact(folder, **cell):
    rows = map(json.loads, (folder / "runs.jsonl").read_text().splitlines())
    return next(row for row in rows if cell.items() <= row.items())


def artifact_hits(folder, requests, column):
    return pl.read_parquet(folder / f"hits_{requests}.parquet")[column].to_list()


def tree_saves(folder, requests, capacity_gb, used="below", cuts_stay=False):
    tree = MarconiTree(capacity_gb * GB, used, cuts_stay)
    saved = [tree.saves(*request) for request in marconi_tokens(folder, requests)]
    return saved, tree.states


@pytest.mark.parametrize("requests", [1000, 4000])
def test_every_request_is_exact_without_a_bound(folder, requests):
    for placer, column in (("dense", "dense_lcp"), ("marconi", "marconi_inf")):
        ours = saved_tokens(folder, requests, placer, "lru", None)
        assert ours.tolist() == artifact_hits(folder, requests, column)


def test_the_totals_are_those_of_the_reference(folder):
    rates = [
        round(percent(folder, requests, "lru", None, placer), 3)
        for requests in (1000, 4000)
        for placer in ("marconi", "dense")
    ]
    assert rates == [70.683, 84.1, 86.606, 92.8]


@pytest.mark.parametrize("capacity", [5, 10, 20, 40])
@pytest.mark.parametrize("requests", [1000, 4000])
def test_by_recency_alone_it_is_within_three_tenths(folder, requests, capacity):
    theirs = artifact(folder, n=requests, policy="v3", alpha=0.0, cap_gb=float(capacity))
    ours = percent(folder, requests, "marconi:alpha=0", capacity)
    assert ours == pytest.approx(theirs["token_hit"], abs=0.3)


@pytest.mark.parametrize("capacity", [5, 10, 20, 40])
@pytest.mark.parametrize("requests", [1000, 4000])
def test_a_tree_with_their_rules_gives_every_request_of_their_lru(folder, requests, capacity):
    saved, states = tree_saves(folder, requests, capacity)
    theirs = artifact(folder, n=requests, policy="v1", cap_gb=float(capacity))
    assert saved == artifact_hits(folder, requests, f"v1_a0_c{capacity}e9")
    assert states == theirs["states"]


@pytest.mark.parametrize("capacity", [5, 10, 20, 40])
@pytest.mark.parametrize("requests", [1000, 4000])
@pytest.mark.parametrize(
    ("used", "eviction"), [("whole", LEAF_LRU), ("part", PARTS_LRU)], ids=["whole", "part"]
)
def test_where_only_whole_leaves_go_ours_is_that_tree_with_cuts_that_stay(
    folder, requests, capacity, used, eviction
):
    """So what is left of the difference to theirs is these two rules, and no other."""
    saved, _ = tree_saves(folder, requests, capacity, used, cuts_stay=True)
    ours = saved_tokens(folder, requests, "marconi", eviction, capacity, "span")
    assert ours.tolist() == saved


def test_each_rule_moves_the_cell_that_differs_most_by_so_much(folder):
    """Rule by rule from theirs to ours, in points of the token hit rate over theirs."""
    theirs = sum(artifact_hits(folder, 1000, "v1_a0_c5e9"))
    prompt_tokens = marconi_trace(folder, 1000).prompt_tokens.sum()
    gains = [
        round(100 * (sum(tree_saves(folder, 1000, 5, *rules)[0]) - theirs) / prompt_tokens, 3)
        for rules in (("below", False), ("part", False), ("part", True), ("whole", True))
    ]
    assert gains == [0, 0.197, 0.156, 0.302]


@pytest.mark.parametrize("capacity", [5, 10, 20, 40])
@pytest.mark.parametrize("requests", [1000, 4000])
def test_where_a_part_counts_as_used_it_is_within_two_tenths_of_their_lru(
    folder, requests, capacity
):
    theirs = artifact(folder, n=requests, policy="v1", cap_gb=float(capacity))["token_hit"]
    ours = percent(folder, requests, PARTS_LRU, capacity, cut="span")
    assert ours == pytest.approx(theirs, abs=0.2)


@pytest.mark.parametrize("capacity", [1.5, 2, 2.5, 3, 5, 7, 10, 15, 20, 30, 40, 60])
@pytest.mark.parametrize("requests", [1000, 4000])
def test_marconi_tuned_does_not_lose_to_lru(folder, requests, capacity):
    lru = percent(folder, requests, "lru", capacity)
    assert percent(folder, requests, "marconi", capacity) >= lru - 0.5


def test_remembering_evicted_branch_points_pays(folder):
    """Where a prompt leaves what was seen, but is no longer held, is a branch point as well."""
    for capacity, points in ((5, 2.0), (10, 2.0)):
        ours = percent(folder, 1000, "lru", capacity, "marconi:remember=true")
        assert ours > percent(folder, 1000, "lru", capacity) + points
