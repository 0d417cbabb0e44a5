"""What pools held and evicted, over replicas, and the words on it."""

from __future__ import annotations

from typing import Any

import pytest

from reports.charts.bars import fates_of
from reports.pages.study.table import cells_table
from reports.results.comparison import compare
from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND, marks_of
from reports.results.pools import COLUMNS, flat_pools, loss_words, pool_words, pools_of
from simulator.results.result import PoolCounters
from tests.reports.sample_study import GIB, sample

LOST = {"kv_evicted": 70, "state_evicted": 5, "never_seen": 900}


def counters(pool: str, capacity: int | None, evicted: int, replica: int = 0) -> PoolCounters:
    return PoolCounters(
        replica=replica,
        pool=pool,
        capacity_bytes=capacity,
        checkpoints_evicted=0 if pool == "kv" else evicted,
        checkpoint_peak_count=2,
        checkpoint_peak_bytes=20,
        kv_peak_bytes=40,
        kv_evicted_bytes=evicted if pool == "kv" else 0,
        peak_bytes=50,
    )


def test_one_pool_has_no_figures_of_pools() -> None:
    assert pools_of([counters("unified", 100, 3)], LOST) is None
    assert flat_pools(None) == dict.fromkeys(COLUMNS)
    assert pool_words("kv", {}.get) is None


def test_figures_of_both_pools_and_the_losses_that_come_from_them() -> None:
    figures = pools_of([counters("kv", 100, 7), counters("states", 60, 3)], LOST)
    assert figures == {
        "kv": {"capacity_bytes": 100, "peak_bytes": 50, "evicted_bytes": 7, "lost_tokens": 70},
        "states": {"capacity_bytes": 60, "peak_bytes": 50, "evicted": 3, "lost_tokens": 5},
    }
    assert flat_pools(figures) == {
        "pool_kv_capacity_bytes": 100,
        "pool_kv_peak_bytes": 50,
        "pool_kv_evicted_bytes": 7,
        "pool_states_capacity_bytes": 60,
        "pool_states_peak_bytes": 50,
        "pool_states_evicted": 3,
    }


def test_replicas_add_up() -> None:
    pools = [
        counters(pool, 60 if pool == "states" else None, 3, replica)
        for replica in (0, 1)
        for pool in ("kv", "states")
    ]
    figures = pools_of(pools, LOST)
    assert figures is not None
    assert figures["states"]["capacity_bytes"] == 120
    assert figures["kv"]["capacity_bytes"] is None
    assert (figures["kv"]["peak_bytes"], figures["kv"]["evicted_bytes"]) == (100, 6)
    assert pool_words("kv", figures["kv"].get) == ("peak 100 B of unbounded", "6 B evicted")
    assert pool_words("states", figures["states"].get) == (
        "peak 100 B of 120 B",
        "6 states evicted",
    )


def test_losses_name_their_pool_where_pools_are_split() -> None:
    assert loss_words("kv_evicted", split=True) == "KV had been evicted (pool kv)"
    assert loss_words("state_evicted", split=True).endswith("had been evicted (pool states)")
    assert loss_words("kv_evicted", split=False) == "KV had been evicted"
    assert loss_words("never_seen", split=True) == loss_words("never_seen", split=False)


@pytest.mark.parametrize("split", [False, True])
def test_the_table_of_a_page_has_a_cell_for_each_heading(*, split: bool) -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB, None])
    figures = pools_of([counters("kv", 100, 7), counters("states", 60, 3)], LOST)
    rows = [row | flat_pools(figures if split else None) for row in cells.rows(named=True)]
    (world,) = compare(type(cells)(rows, infer_schema_length=None), manifest)
    table = cells_table(world, "world-1", 100)
    names, shown = [getattr(each, "text", each) for each in table.head], table.rows
    assert {len(row) for row in shown} == {len(names)}
    assert ("Pool states" in names) is split
    if split:
        assert names[3:6] == ["Against the baseline", "Pool kv", "Pool states"]
        row: dict[str, Any] = dict(zip(names, shown[0], strict=True))
        assert (row["Pool kv"].text, row["Pool kv"].note) == ("peak 50 B of 100 B", "7 B evicted")
        assert row["Pool states"].note == "3 states evicted"
    fates = {fate.name for fate in fates_of(world.points.values())}
    assert ("KV evicted (pool kv)" in fates) is split
    assert ("state evicted (pool states)" in fates) is split


@pytest.mark.parametrize(
    ("eviction", "marks"),
    [
        ("kv=lru,states=fifo", ()),
        ("kv=belady,states=lru", (LOOKS_AHEAD,)),
        ("kv=lru,states=belady", (LOOKS_AHEAD,)),
    ],
)
def test_who_looks_ahead_in_a_pool_is_marked(eviction: str, marks: tuple[str, ...]) -> None:
    policies = {"placer": "last", "eviction": eviction, "admission": "always"}
    assert marks_of(policies) == marks
    assert marks_of(policies | {"placer": "dense"}) == (UPPER_BOUND, *marks)
