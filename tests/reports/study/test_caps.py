"""Caps on states, and caches of entries, in a study."""

from __future__ import annotations

from typing import Any

import pytest

from reports.study.scenario import build_scenario
from simulator.base.errors import UsageError
from tests.reports.study.test_pools import cell_of, cells_of


def test_by_default_there_is_neither_and_older_folders_have_the_same_cells() -> None:
    cell = cell_of({})
    scenario = build_scenario(cell.study)
    assert (scenario.cache, scenario.states_per_prefix) == ("tree", None)
    assert "kind" not in cell.study.resolved()["cache"]
    assert cell.identity == cell_of({"cache.kind": " tree "}).identity


@pytest.mark.parametrize("written", [8, "8", "path:8", " path:08 "])
def test_one_spelling_of_a_cap(written: Any) -> None:
    cell = cell_of({"cache.states_per_prefix": written})
    assert cell.study.cache.states_per_prefix == "path:8"
    assert cell.identity == cell_of({"cache.states_per_prefix": "path:8"}).identity
    assert cell.identity != cell_of({"cache.states_per_prefix": "entry:8"}).identity
    assert build_scenario(cell.study).states_per_prefix == "path:8"


def test_entries_leave_oldest_first_whatever_the_default_is() -> None:
    cell = cell_of({"cache.kind": "entries:last=20"})
    assert cell.study.policy.eviction == "fifo"
    assert build_scenario(cell.study).cache == "entries:last=20"
    again = cell_of({"cache.kind": "entries:last=20", "policy.eviction": "fifo"})
    assert cell.identity == again.identity
    kinds = ["tree", "entries:per_document=2"]
    tree, entries = cells_of({"grid.cache.kind": kinds})
    assert [tree.study.policy.eviction, entries.study.policy.eviction] == ["lru", "fifo"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"policy.eviction": "belady"}, "'policy.eviction'"),
        ({"policy.admission": "never"}, "'policy.admission'"),
        ({"cache.pools": "split:states=8"}, "'cache.pools'"),
        ({"cache.count_running": True}, "'cache.count_running'"),
    ],
)
def test_what_entries_do_not_know_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cell_of({"cache.kind": "entries:last=20"} | more)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cache.states_per_prefix", 0),
        ("cache.states_per_prefix", "leaf:3"),
        ("cache.kind", "entries:0"),
        ("cache.kind", "forest"),
    ],
)
def test_what_is_neither_is_named(key: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"'{key}': unknown"):
        cell_of({key: value})
