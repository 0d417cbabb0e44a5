"""Pools, the policies of each, and running requests that count, in a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reports.study.capacities import least_useful_bytes, small_note, states_bytes
from reports.study.cells import Cell, expand
from reports.study.layers import read_settings
from reports.study.own_policies import doubts
from reports.study.scenario import build_scenario
from simulator.base.errors import UsageError

PAGE, STATE = 32 * 1024, 51_511_296  # of qwen3.5-9b-h200
SPLIT = {"cache.pools": "split:states=8"}


def cells_of(settings: Mapping[str, Any]) -> list[Cell]:
    return expand(read_settings(None, [(key, value, "--set") for key, value in settings.items()]))[
        1
    ]


def cell_of(settings: Mapping[str, Any]) -> Cell:
    (cell,) = cells_of(settings)
    return cell


def test_by_default_there_is_one_pool_and_running_requests_do_not_count() -> None:
    scenario = build_scenario(cell_of({}).study)
    assert (scenario.pools, scenario.count_running) == ("unified", False)
    assert callable(scenario.eviction)


def test_a_scenario_is_told_of_all_of_it() -> None:
    settings = SPLIT | {"policy.eviction": "states=fifo,kv=lru", "cache.count_running": True}
    scenario = build_scenario(cell_of(settings).study)
    assert (scenario.pools, scenario.count_running) == ("split:states=8", True)
    assert isinstance(scenario.eviction, Mapping)
    assert list(scenario.eviction) == ["kv", "states"]


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        (" unified ", "unified"),
        ("split:states=064", "split:states=64"),
        ("split:states=8192 MiB", "split:states=8GiB"),
        ("split:states=1.5gib", "split:states=1536MiB"),
        ("split:states=1000000B", "split:states=1000000B"),
    ],
)
def test_one_spelling_so_that_equal_pools_are_one_cell(written: str, spelling: str) -> None:
    cell = cell_of({"cache.pools": written})
    assert cell.study.cache.pools == spelling
    assert cell.identity == cell_of({"cache.pools": spelling}).identity


def test_equal_policies_of_pools_are_one_cell() -> None:
    def identity(eviction: str) -> str:
        return cell_of(SPLIT | {"policy.eviction": eviction}).identity

    assert identity("kv=lru,states=lru") == identity("lru")
    assert identity("states=value:step=2,kv=lru") == identity("kv=lru,states=value:step=2.0")
    assert identity("kv=lru,states=fifo") != identity("kv=fifo,states=lru")
    with pytest.raises(UsageError, match="the same cell twice"):
        cells_of(SPLIT | {"grid.policy.eviction": ["lru", "kv=lru,states=lru"]})


def test_pools_and_what_counts_tell_cells_apart() -> None:
    grid = {
        "cache.capacity": "8 GiB",
        "grid.cache.pools": ["unified", "split:states=8", "split:states=1GiB"],
        "grid.cache.count_running": [False, True],
    }
    assert len({cell.identity for cell in cells_of(grid)}) == 6


def test_the_policies_of_pools_may_stand_beside_a_grid_of_them() -> None:
    grid = {
        "grid.cache.pools": ["split:states=8", "split:states=1GiB"],
        "policy.eviction": "kv=lru,states=fifo",
    }
    assert [cell.study.policy.eviction for cell in cells_of(grid)] == 2 * ["kv=lru,states=fifo"]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"cache.pools": "halves"},
            "'cache.pools': unknown pools 'halves'; expected unified, split:states=64 (slots) or",
        ),
        (
            {"cache.pools": "split:states=8 potatoes"},
            "'cache.pools': size: unknown unit 'potatoes'",
        ),
        ({"cache.pools": 64}, "'cache.pools': expected a valid string, found 64"),
        ({"cache.count_running": "yes"}, "'cache.count_running': expected a valid boolean"),
        (
            {"policy.eviction": "kv=lru,states=value"},
            "'policy.eviction' has a policy for each pool: expected cache.pools = 'split:states",
        ),
        (
            {"grid.policy.eviction": ["lru", "kv=lru,states=value"]},
            "[grid]: 'policy.eviction' has a policy for each pool",
        ),
        (SPLIT | {"policy.eviction": "kv=lru"}, "'policy.eviction': eviction 'kv=lru': expected"),
        (
            SPLIT | {"policy.eviction": "kv=lru,states=valeu"},
            "'policy.eviction': eviction 'valeu': unknown name 'valeu'; did you mean 'value'?",
        ),
        (
            SPLIT | {"cache.capacity": "256 MiB"},
            "'cache.capacity': 256.0 MiB are less than the states alone take with cache.pools = "
            "'split:states=8', 393.0 MiB",
        ),
        (
            {"cache.capacity": 0, "cache.pools": "split:states=1MiB"},
            "'cache.capacity': 0 B are less than the states alone take",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_key(settings: dict[str, Any], line: str) -> None:
    with pytest.raises(UsageError) as caught:
        cells_of(settings)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_kept_for_states_and_what_is_of_use() -> None:
    assert states_bytes(cell_of({}).study) is None
    slots = cell_of(SPLIT).study
    assert states_bytes(slots) == 8 * STATE
    assert least_useful_bytes(slots) == 8 * STATE + PAGE
    assert states_bytes(cell_of({"cache.pools": "split:states=1GiB"}).study) == 1 << 30


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        (SPLIT, None),
        (SPLIT | {"cache.capacity": 8 * STATE + PAGE}, None),
        (SPLIT | {"cache.capacity": 8 * STATE}, "leaves 0 B beside the states of pools"),
        ({"cache.pools": "split:states=1MiB"}, "the 1.0 MiB for states do not hold one (49.1 MiB)"),
        ({"cache.pools": "split:states=0", "policy.placer": "dense"}, None),
    ],
)
def test_pools_that_save_nothing_are_told(settings: dict[str, Any], note: str | None) -> None:
    words = small_note(cell_of(settings).study)
    assert (words is None) if note is None else (note in (words or ""))


def test_hooks_that_nobody_calls_are_told_of_the_policy_of_a_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_of_pool.py").write_text(
        "from policies.eviction import Lru\nclass Own(Lru):\n    def on_hits(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    spec = "kv=lru,states=own_of_pool:Own"
    (doubt,) = doubts(read_settings(None, [("policy.eviction", spec, "--set")]))
    assert "on_hits" in doubt
