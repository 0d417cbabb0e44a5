"""Columns of one type, whatever the grid mixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reports.api import Study
from reports.results.columns import column
from simulator.base.errors import UsageError

MIXED: list[tuple[list[Any], Any, list[Any]]] = [
    ([1, 2.0], pl.Float64, [1.0, 2.0]),
    ([2.0, 1], pl.Float64, [2.0, 1.0]),
    ([None, 1, 2.5], pl.Float64, [None, 1.0, 2.5]),
    ([1, 2, None], pl.Int64, [1, 2, None]),
    (["800 ms", 2.0, 3], pl.String, ["800 ms", "2.0", "3"]),
    ([True, False], pl.Boolean, [True, False]),
    ([True, 2], pl.String, ["true", "2"]),
]


@pytest.mark.parametrize(("values", "dtype", "kept"), MIXED)
def test_mixed_values(values: list[Any], dtype: Any, kept: list[Any]) -> None:
    series = column("server.horizon", values)
    assert series.dtype == dtype
    assert series.to_list() == kept


def test_known_columns_do_not_depend_on_their_values() -> None:
    assert column("error", [None]).dtype == pl.String
    assert column("capacity_bytes", [None]).dtype == pl.Int64
    assert column("ttft_mean_seconds", [1, None]).dtype == pl.Float64
    assert column("offered_load_nothing_saved", [None]).dtype == pl.Float64
    assert column("server_utilisation", [1, None]).dtype == pl.Float64
    assert column("queue_grows", [None]).dtype == pl.Boolean
    assert column("block_saved_tokens", [None]).dtype == pl.List(pl.Int64)


def test_a_grid_that_mixes_spellings_is_swept(tmp_path: Path) -> None:
    study = {
        "workload.requests": 20,
        "grid.policy.placer": ["last"],
        "grid.arrivals.rate": [1, 2.0],
        "grid.server.horizon": ["80 s", 20.0],
    }
    cells = Study(study).run(tmp_path).cells
    assert cells["arrivals.rate"].to_list() == [1.0, 1.0, 2.0, 2.0]
    assert cells["server.horizon"].to_list() == ["80 s", "20.0"] * 2
    assert cells["error"].null_count() == 4


@pytest.mark.parametrize("key", ["arrivals.rate", "workload.drift"])
def test_two_spellings_of_a_number_are_one_cell(key: str) -> None:
    with pytest.raises(UsageError, match="the grid holds the same cell twice"):
        Study({"workload.requests": 20, f"grid.{key}": [1, 1.0]}).plan()
