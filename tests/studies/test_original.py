"""The original's comparison: drawn prompts overlap as the logged ones, and savings are theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from simulator.base.errors import DataError
from simulator.simulation import Scenario, simulate
from studies.paper.original import (
    ENTRIES,
    LoggedRequest,
    LoggedRun,
    main,
    outcome,
    read_logs,
    trace_of,
)

PROFILE = "qwen3.5-0.8b-h200"


def served(trace, entries, placer="none", alignment=64):
    scenario = Scenario(
        open_profile(PROFILE),
        lambda: create("placer", placer),
        lambda: create("eviction", "fifo"),
        lambda: create("admission", "always"),
        server="instant",
        alignment=alignment,
        cache=f"entries:last={entries}",
    )
    return simulate(trace, scenario).columns


def test_drawn_prompts_overlap_as_they_should():
    rng = np.random.default_rng(0)
    requests: list[LoggedRequest] = []
    for _ in range(300):
        document, length = str(rng.integers(6)), int(rng.integers(50, 100))
        held = [one.prompt_tokens for one in requests[-12:] if one.document == document]
        overlap = int(rng.choice([0, 30, min(length, *held)])) if held else 0
        requests.append(LoggedRequest(document, length, overlap))
    trace, first = trace_of(LoggedRun("drawn", requests, {}), 12)
    assert trace.problem() is None
    columns = served(trace, 12)
    lengths = [one.prompt_tokens + (one.overlap_tokens == one.prompt_tokens) for one in requests]
    assert columns["prompt_tokens"][first:].tolist() == lengths
    wanted = [one.overlap_tokens for one in requests]
    assert columns["kv_tokens"][first:].tolist() == wanted


def test_overlaps_that_cannot_be_are_refused():
    requests = [LoggedRequest(str(number % 40), 50, 30) for number in range(80)]
    with pytest.raises(DataError, match="no 12 entries"):
        trace_of(LoggedRun("drawn", requests, {}), 12)


@pytest.fixture(scope="module")
def runs(shared: Path) -> Path:
    return shared / "reference" / "sparse_prefix_paper" / "sparse_prefix_runs.parquet"


@pytest.mark.parametrize("run", ENTRIES)
def test_fixed_positions_save_what_the_logs_say_to_the_token(runs, run):
    logs, entries = read_logs(runs, run), ENTRIES[run]
    trace, first = trace_of(logs, entries)
    rows = pl.read_parquet(runs).filter(pl.col("run") == run)
    names = {"block_1024": "block:size=1024", "block_4096": "block:size=4096"}
    names |= {"block_8192": "block:size=8192", "log": "dyadic:first=768"}
    for strategy, placer in names.items():
        theirs = rows.filter(pl.col("strategy") == strategy).sort("request")["saved_tokens"]
        if len(theirs):
            ours = served(trace, entries, placer)["saved_tokens"][first:]
            assert ours.tolist() == theirs.to_list(), strategy


# Relative differences of savings: `balanced` learns nothing, and spreads a remainder; `published`
# learns from requests that the logs lack, which matters most for few states.
@pytest.mark.parametrize(
    ("run", "budget"),
    [("quality_clean", 5), ("system_prompts_clean", 12), ("narrativeqa_sim", 3)],
)
def test_savings_are_near_those_of_the_logs(runs, run, budget):
    logs, entries = read_logs(runs, run), ENTRIES[run]
    trace, first = trace_of(logs, entries)
    profile = open_profile(PROFILE)
    for placer, strategy, near in (
        ("balanced", "balanced", 0.005),
        ("published", "dp", 0.03),
    ):
        spec = f"{placer}:budget={budget}"
        kept = outcome(trace, first, profile, spec, timed=False, cache=f"entries:last={entries}")
        theirs = logs.strategies[f"{strategy}_{budget}"]["saved"]
        assert kept.saved == pytest.approx(theirs, rel=near), spec


def test_the_order_at_few_states_is_the_published_one(runs):
    """On system prompts even spacing leads the published plan up to five states, and not after."""
    run = "system_prompts_clean"
    logs, entries = read_logs(runs, run), ENTRIES[run]
    trace, first = trace_of(logs, entries)
    profile = open_profile(PROFILE)
    for budget in (1, 3, 5, 12):
        even, planned = (
            outcome(trace, first, profile, spec, timed=False, cache=f"entries:last={entries}")
            for spec in (f"balanced:budget={budget}", f"published:budget={budget}")
        )
        strategies = logs.strategies
        theirs = strategies[f"balanced_{budget}"]["saved"] > strategies[f"dp_{budget}"]["saved"]
        assert (even.saved > planned.saved) == theirs == (budget <= 5)


def test_traces_are_written_and_a_run_that_is_not_there_is_named(runs, tmp_path, capsys):
    assert main([str(runs), "--run", "quality_clean", "--traces", str(tmp_path)]) == 0
    assert (tmp_path / "quality_clean.parquet").is_file()
    nothing = tmp_path / "nothing.parquet"
    pl.read_parquet(runs).head(0).write_parquet(nothing)
    assert main([str(nothing), "--run", "quality_clean"]) == 3
    assert "no request of the run 'quality_clean'" in capsys.readouterr().err
