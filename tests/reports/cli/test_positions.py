"""Where states lie, as `run` and `sweep` tell it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.reports.cli.conftest import Milepost, milepost

__all__ = ["milepost"]  # a fixture

SMALL = ("--set", "workload.requests=200", "--set", "workload.documents=5", "-q")
MIDDLE = """
from policies.placement.base import BasePlacer


class Middle(BasePlacer):
    '''Store one checkpoint in the middle of the prompt.

    Source: none; a test.
    '''

    def place(self, prefix, window):
        middle = prefix.prompt_tokens // 2
        return [middle] if middle > prefix.resume else []
"""


def test_records_hold_where_each_request_stored_states(milepost: Milepost, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert milepost("run", *SMALL, "--placer", "branch", "--warmup", 0, "--out", out).code == 0
    records = pl.read_parquet(out / "records.parquet")
    positions = records["checkpoint_positions"]
    assert positions.dtype == pl.List(pl.Int64)
    assert positions.null_count() == 0
    assert positions.list.len().to_list() == records["checkpoints_written"].to_list()
    assert positions.list.len().min() == 0  # a prompt that came before stores nothing
    deepest = records.select(
        pl.col("checkpoint_positions").list.max().alias("deepest"), "prompt_tokens"
    )
    assert deepest.filter(pl.col("deepest") > pl.col("prompt_tokens")).is_empty()
    summary = json.loads((out / "summary.json").read_text())["positions"]
    assert summary["states"] == records["checkpoints_written"].sum()
    assert {"words", "nearest", "from_start", "from_end", "from_branch", "labels"} <= set(summary)


def test_a_run_that_stores_nothing_has_empty_lists(milepost: Milepost, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert milepost("run", *SMALL, "--placer", "dense", "--out", out).code == 0
    assert pl.read_parquet(out / "records.parquet")["checkpoint_positions"].to_list() == [[]] * 200


@pytest.mark.parametrize(
    ("placer", "words"),
    [
        ("last", "states a request: all at the end of the prompt"),
        ("block:size=1024", "states a request: nearly all every 1,024 tokens"),
        ("none", "none stores no states"),
    ],
)
def test_the_terminal_says_where_in_words(milepost: Milepost, placer: str, words: str) -> None:
    ended = milepost("run", *SMALL, "--placer", placer)
    assert words in " ".join(ended.out.split())
    assert ("in an engine" in ended.out) == (placer != "none")


def test_a_plug_in_is_told_of_like_any_other(
    milepost: Milepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "middling.py").write_text(MIDDLE)
    monkeypatch.syspath_prepend(tmp_path)
    positions = milepost("run", *SMALL, "--placer", "middling:Middle", "--json").json["positions"]
    assert positions["words"].startswith("`middling:Middle` stores ")
    assert "% of the prompt" in positions["words"]
    assert positions["nearest"]["words"]


def test_cells_tell_the_same_as_a_run(milepost: Milepost, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text('[grid]\n"policy.placer" = ["branch", "none"]\n')
    out = tmp_path / "out"
    same = ("--set", "cache.capacity='1 GiB'")
    assert milepost("sweep", study, *SMALL, *same, "--out", out, "--jobs", 1).code == 0
    ran = milepost("run", *SMALL, *same, "--placer", "branch", "--json").json["positions"]
    cell, empty = pl.read_parquet(out / "cells.parquet").to_dicts()
    assert cell["positions_words"] == ran["words"]
    assert cell["positions_nearest"] == ran["nearest"]["words"]
    assert cell["positions_at_end"] == ran["at_end"]
    assert [n for n in cell["bins_from_end"] if n] == [each["states"] for each in ran["from_end"]]
    assert cell["bins_labels"] == list(ran["labels"])
    assert empty["positions_nearest"] is None
    assert empty["bins_from_start"] == [0] * 24
    assert "Where the states are" in (out / "report.html").read_text()
