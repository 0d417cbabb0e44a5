from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from reports.execution.estimate import estimate
from reports.execution.sweep import sweep
from reports.execution.warmup import seen_metrics, settled_at, share_of
from reports.study.file import parse_study
from reports.study.layers import read_settings
from simulator.base.errors import UsageError
from simulator.results.records import FINISHED, REJECTED
from simulator.results.result import Result

REQUESTS = 4000


@dataclass
class Replay:
    """As much of a result as is looked at."""

    columns: dict[str, NDArray[Any]]


def replay(saved: NDArray[np.float64], waits: NDArray[np.float64]) -> Result:
    prompt = np.full(REQUESTS, 1_000_000)
    replayed = Replay(
        {
            "prompt_tokens": prompt,
            "saved_tokens": (saved * prompt).astype(np.int64),
            "ttft_seconds": waits,
            "status": np.full(REQUESTS, FINISHED),
        }
    )
    return cast("Result", replayed)


def filling(generator: np.random.Generator, tokens: float) -> NDArray[np.float64]:
    """Return a hit rate that nears 60 % with a time constant of so many requests, and noise."""
    rise = 0.6 * (1 - np.exp(-np.arange(REQUESTS) / tokens)) if tokens else np.full(REQUESTS, 0.6)
    return np.clip(rise + generator.normal(scale=0.1, size=REQUESTS), 0, 1)


def test_a_known_transient_is_cut_and_no_more() -> None:
    """After 3 time constants 5 % of the transient is left, which is half of the noise's sd."""
    generator = np.random.default_rng(1)
    steady = np.full(REQUESTS, 0.1) + generator.normal(scale=0.01, size=REQUESTS)
    cuts = {
        tokens: [settled_at(replay(filling(generator, tokens), steady)) for _ in range(20)]
        for tokens in (0, 100, 300)
    }
    assert np.median(cuts[0]) <= 0.05 * REQUESTS
    assert 2 * 100 <= np.median(cuts[100]) <= 8 * 100
    assert 2 * 300 <= np.median(cuts[300]) <= 5 * 300


def test_what_is_cut_takes_away_the_bias() -> None:
    generator = np.random.default_rng(2)
    steady = np.full(REQUESTS, 0.1)
    errors = []
    for _ in range(20):
        saved = filling(generator, 300)
        cut = settled_at(replay(saved, steady))
        errors.append((saved.mean() - 0.6, saved[cut:].mean() - 0.6))
    whole, rest = np.abs(np.mean(errors, axis=0))
    assert whole > 0.04
    assert rest < 0.005


def test_the_later_of_both_series_counts() -> None:
    generator = np.random.default_rng(3)
    waits = 1 + 5 * np.exp(-np.arange(REQUESTS) / 200) + generator.normal(scale=0.1, size=REQUESTS)
    even = filling(generator, 0)
    assert settled_at(replay(even, waits)) > 2 * 200
    late = replay(even, waits)
    late.columns["status"][:1000] = REJECTED  # their times say nothing, but their numbers count
    late.columns["ttft_seconds"][1000:] = waits[:-1000]
    assert settled_at(late) > 1000 + 2 * 200
    late.columns["status"][:] = REJECTED
    assert seen_metrics(late)["requests"] == REQUESTS


@pytest.mark.parametrize(
    ("requests", "whole", "share"),
    [(0, 4000, 0.0), (1, 4000, 0.001), (400, 4000, 0.1), (401, 4000, 0.101), (2000, 4000, 0.5)],
)
def test_shares_cut_at_least_what_was_found(requests: int, whole: int, share: float) -> None:
    assert share_of(requests, whole) == share
    assert int(share * whole) >= requests


STUDY = """
[study]
warmup = "auto"
replications = 2
[policy]
placer = "branch"
[grid]
"policy.eviction" = ["lru", "fifo"]
"cache.capacity" = ["1 GiB", "4 GiB"]
[[grid.workload]]
generator = "chats"
requests = 400
[[grid.workload]]
generator = "documents"
requests = 300
"""


def test_all_cells_of_a_workload_count_the_same_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.artifacts.writing.write_page", lambda *_: [])
    (tmp_path / "study.toml").write_text(STUDY)
    settings = read_settings(tmp_path / "study.toml")
    seen: list[tuple[int, int]] = []
    sweep(settings, tmp_path / "out", 1, "", lambda done, cells: seen.append((done, cells)))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    shares = manifest["warmup_auto"]
    assert list(shares) == ["chats", "documents"] == list(manifest["workloads"])
    assert manifest["warmup_share"] == max(shares.values()) > 0
    cells = pl.read_parquet(tmp_path / "out" / "cells.parquet")
    for name, requests in (("chats", 400), ("documents", 300)):
        counted = requests - int(shares[name] * requests)
        assert cells.filter(workload=name)["requests_total"].unique().to_list() == [counted]
    assert (8, 8) in seen  # each scenario once, to see where it settles
    assert seen[-1] == (16, 16)
    table = (tmp_path / "out" / "cells.parquet").read_bytes()
    entries = sorted((tmp_path / "out" / "journal").glob("*.json"))
    assert len(entries) == 1 + 8 + 16
    sweep(settings, tmp_path / "out", 1, "")  # nothing is computed again
    assert sorted((tmp_path / "out" / "journal").glob("*.json")) == entries
    assert (tmp_path / "out" / "cells.parquet").read_bytes() == table


def test_the_plan_counts_what_is_replayed_to_see(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    plan = estimate(read_settings(tmp_path / "study.toml"), 1)
    assert plan["requests"] == (2 + 1) * 4 * (400 + 300)


def test_a_share_that_is_not_found_yet_is_not_used() -> None:
    study = parse_study(read_settings(None, [("study.warmup", "auto", "a test")]))
    with pytest.raises(UsageError, match="state a share here"):
        _ = study.study.warmup_share
    with pytest.raises(UsageError, match=r"expected a share to 0\.9 or 'auto', found 'some'"):
        parse_study(read_settings(None, [("study.warmup", "some", "a test")]))
