from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reports.artifacts.writing import read_artifacts, write_page
from reports.compare import compare_folders
from simulator.base.errors import DataError, UsageError
from tests.reports.sample_study import GIB, sample, with_failures

HIT_RATE = ("token_hit_rate",)


def write(folder: Path, cells: pl.DataFrame, manifest: dict[str, Any]) -> Path:
    folder.mkdir()
    cells.write_parquet(folder / "cells.parquet")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def shifted(cells: pl.DataFrame, by: float) -> pl.DataFrame:
    """Return the cells with a higher token hit rate, a little more in each replication."""
    more = by + 0.001 * pl.col("replication")
    return cells.with_columns(pl.col("token_hit_rate") + more)


def test_cells_are_paired_by_what_the_grids_vary_and_by_seed(tmp_path: Path) -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB, None])
    a = write(tmp_path / "a", cells, manifest)
    b = write(tmp_path / "b", shifted(cells, 0.02).reverse(), manifest | {"seed": 8})
    runs = compare_folders(a, b, measures=HIT_RATE)
    assert [change.key for change in runs.changes] == ["seed"]
    places = [tuple(compared.place.values()) for compared in runs.comparisons]
    assert places == [(p, c) for p in ("last", "branch") for c in (8 * GIB, None)]
    for compared in runs.comparisons:
        assert compared.difference is not None
        assert (compared.difference.method, compared.difference.count) == ("replications", 3)
        assert compared.change == pytest.approx(0.021)
        assert compared.verdict == "better"
        assert compared.p_holm is not None
        assert compared.difference.p_value is not None
        assert compared.p_holm >= compared.difference.p_value


def test_cells_of_one_grid_only_and_failed_ones_are_left_out_and_counted(tmp_path: Path) -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    a = write(tmp_path / "a", cells, manifest)
    rest = with_failures(cells.filter(pl.col("placer") == "last"), pl.col("replication") == 1, "no")
    b = write(tmp_path / "b", rest, manifest)
    runs = compare_folders(a, b, measures=HIT_RATE)
    assert len(runs.comparisons) == 1
    assert runs.notes == (
        "1 points of the grid are in A only, and left out",
        "1 cells failed and are left out",
    )
    difference = runs.comparisons[0].difference
    assert difference is not None
    assert difference.count == 2


def test_a_setting_meets_the_same_value_in_a_grid(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    varied = pl.concat([cells.with_columns(pl.lit(r).alias("arrivals.rate")) for r in (5, 6)])
    a = write(tmp_path / "a", varied, manifest | {"grid": {"arrivals.rate": [5, 6]}})
    single = manifest | {"grid": {}, "study": {"arrivals": {"rate": 5.0}}}
    b = write(tmp_path / "b", cells, single)
    (compared,) = compare_folders(a, b, measures=HIT_RATE).comparisons
    assert (dict(compared.place), compared.verdict) == ({"arrivals.rate": 5}, "equal")


@pytest.mark.parametrize(
    ("cells", "changes"),
    [
        (pl.col("seed") + 1, {}),
        (pl.lit(7), {"trace": {"sha256": "0"}}),
        (pl.col("^block_.*$").list.head(32), {}),
        (pl.lit(7), {"study": {"workload": {"documents": 9}}}),
    ],
    ids=["other seeds", "another trace", "another warm-up", "another workload"],
)
def test_other_requests_are_refused_unless_unpaired(
    tmp_path: Path, cells: pl.Expr, changes: dict[str, Any]
) -> None:
    table, manifest = sample(["last"], [8 * GIB])
    name = cells.meta.output_name(raise_if_undetermined=False)
    a = write(tmp_path / "a", table, manifest)
    other = table if name == "literal" else table.with_columns(cells)
    b = write(tmp_path / "b", other, manifest | changes)
    with pytest.raises(UsageError, match="replayed different requests"):
        compare_folders(a, b)
    runs = compare_folders(a, b, paired=False, measures=HIT_RATE)
    assert runs.comparisons[0].verdict == "unsure"


def test_each_of_several_traces_must_be_the_same(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    both = pl.concat([cells.with_columns(pl.lit(name).alias("workload")) for name in "xy"])
    manifest |= {"grid": {"workload": ["x", "y"]}, "trace": {"sha256": "1"}}

    def traces(x: str, y: str) -> dict[str, Any]:
        return manifest | {"workloads": {"x": {"sha256": x}, "y": {"sha256": y}}}

    a = write(tmp_path / "a", both, traces("1", "2"))
    b = write(tmp_path / "b", both, traces("1", "2") | {"trace": {"sha256": "2"}})
    places = [dict(each.place) for each in compare_folders(a, b, measures=HIT_RATE).comparisons]
    assert places == [{"workload": "x"}, {"workload": "y"}]
    other = write(tmp_path / "other", both, traces("1", "3"))
    with pytest.raises(UsageError, match="replayed different requests"):
        compare_folders(a, other)
    alone = cells.with_columns(pl.lit("x").alias("workload"))
    one = write(tmp_path / "one", alone, manifest | {"grid": {}})
    runs = compare_folders(a, one, measures=HIT_RATE)
    assert [dict(each.place) for each in runs.comparisons] == [{"workload": "x"}]
    assert runs.notes == ("1 points of the grid are in A only, and left out",)


def test_a_replay_is_resampled_and_has_no_interval_for_quantiles(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB], replications=1)
    manifest["trace"] |= {"deterministic": True, "sha256": "ab"}
    a = write(tmp_path / "a", cells, manifest)
    slower = cells.with_columns(pl.col("ttft_p99_seconds") + 0.1)
    b = write(tmp_path / "b", slower, manifest)
    by_name = {c.measure.name: c for c in compare_folders(a, b).comparisons}
    assert by_name["token_hit_rate"].verdict == "equal"
    assert by_name["token_hit_rate"].difference is not None
    assert by_name["token_hit_rate"].difference.method == "blocks"
    assert by_name["p99_ttft"].verdict == "unknown"
    assert by_name["p99_ttft"].change == pytest.approx(0.1)


def test_grids_without_a_common_cell_are_refused(tmp_path: Path) -> None:
    a = write(tmp_path / "a", *sample(["last"], [8 * GIB]))
    b = write(tmp_path / "b", *sample(["branch"], [8 * GIB]))
    with pytest.raises(UsageError, match=r"no cell is in both \(the grids vary policy.placer"):
        compare_folders(a, b)
    with pytest.raises(UsageError, match="a sweep keeps no requests"):
        compare_folders(a, a, unit="time")


def test_cells_without_seeds_are_damaged(tmp_path: Path) -> None:
    cells, manifest = sample(["last"], [8 * GIB])
    a = write(tmp_path / "a", cells.drop("seed"), manifest)
    with pytest.raises(DataError, match="field 'seed': missing"):
        compare_folders(a, a)


def test_a_folder_of_before_and_one_of_now_have_the_same_cells(tmp_path: Path) -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    folders = []
    for key, words in (("cache.evicts", ("tail", "run")), ("cache.cut", ("tail", "span"))):
        both = pl.concat([cells.with_columns(pl.lit(word).alias(key)) for word in words])
        grid = manifest["grid"] | {key: list(words)}
        folders.append(write(tmp_path / key, both, manifest | {"grid": grid}))
        read_cells, read_manifest = read_artifacts(folders[-1])
        assert write_page(folders[-1], read_cells, read_manifest)  # older folders still open
    runs = compare_folders(*folders, measures=HIT_RATE)
    assert runs.changes == ()
    cuts = [compared.place["cache.cut"] for compared in runs.comparisons]
    assert sorted(cuts) == ["span", "span", "tail", "tail"]
