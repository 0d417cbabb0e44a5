"""Savings that the original paper's logs record, from our placers.

The rule that gives every one of them: the states of an entry lie at the placer's positions for
its whole prompt, floored to 64 tokens; a request resumes at the deepest of them at or before
its overlap. Positions of `block` and `log` do not depend on the length of the entry, which is at
least the overlap, so the entry need not be known. Their `log` is the powers of two from 768 on,
hence 1024, 2048, ... (no log shows a state at 768).

The last-token rule cannot be told from these logs: 374 requests of one run have an overlap of
their whole prompt, and no position falls on the end of any of them, so that min(overlap, L - 1)
gives the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from policies.registry import create
from tests.contracts.prefixes import build_prefix, place

ALIGNMENT = 64
RUNS = (
    "quality_clean",
    "quality_sim",
    "system_prompts_clean",
    "system_prompts_sim",
    "narrativeqa_sim",
)


@pytest.fixture(scope="module")
def logs(shared: Path) -> pl.DataFrame:
    file = shared / "reference" / "sparse_prefix_paper" / "sparse_prefix_runs.parquet"
    wanted = pl.col("strategy").str.starts_with("block_") | (pl.col("strategy") == "log")
    return pl.read_parquet(file).filter(wanted)


def saved(strategy: str, depths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the deepest floored position at or before each depth."""
    name = "dyadic:first=768" if strategy == "log" else strategy.replace("block_", "block:size=")
    placed = place(create("placer", name), build_prefix([int(depths.max())]))
    positions = np.array([0, *placed], np.int64)
    positions -= positions % ALIGNMENT
    return positions[positions.searchsorted(depths, side="right") - 1]


@pytest.mark.parametrize("run", RUNS)
def test_every_request_saves_what_the_log_says(logs: pl.DataFrame, run: str) -> None:
    rows = logs.filter(pl.col("run") == run)
    strategies = rows["strategy"].unique().sort().to_list()
    assert "log" in strategies
    assert len(strategies) >= 5
    for strategy in strategies:
        requests = rows.filter(pl.col("strategy") == strategy)
        overlap = requests["overlap_tokens"].to_numpy()
        expected = requests["saved_tokens"].to_numpy()
        reach = np.minimum(overlap, requests["prompt_tokens"].to_numpy() - 1)
        assert (saved(strategy, overlap) == expected).all(), strategy
        assert (saved(strategy, reach) == expected).all(), strategy


def test_the_rule_by_hand() -> None:
    assert saved("block_1024", np.array([1023, 1024, 5000])).tolist() == [0, 1024, 4096]
    assert saved("block_100", np.array([63, 127, 128, 250])).tolist() == [0, 64, 64, 192]
    assert saved("log", np.array([1023, 1024, 5000])).tolist() == [0, 1024, 4096]


@pytest.mark.parametrize(
    ("run", "strategy", "total"),
    [("quality_clean", "block_1024", 926_720), ("narrativeqa_sim", "block_2048", 105_934_848)],
)
def test_totals(logs: pl.DataFrame, run: str, strategy: str, total: int) -> None:
    rows = logs.filter((pl.col("run") == run) & (pl.col("strategy") == strategy))
    assert saved(strategy, rows["overlap_tokens"].to_numpy()).sum() == total
