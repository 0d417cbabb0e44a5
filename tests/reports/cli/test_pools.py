"""Split pools, policies of each and running requests that count, from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from reports.commands.sweep import SweepCommand
from simulator.costs.profile import profile_to_json
from simulator.results.records import REJECTED
from tests.reports.cli.conftest import Milepost
from tests.simulator.prompts import toy_profile

# Belady, Nelson and Shedler (1969): with three frames FIFO has 3 hits and LRU 2; with four it is
# the other way: 2 and 4.
ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)


@pytest.fixture
def flags(tmp_path: Path) -> list[object]:
    """Return flags that replay the anomaly: 3 tokens a prompt, 1 B each, a state of 10 B at 2."""
    rows = (
        {
            "timestamp": 10_000 * number,
            "input_length": 3,
            "output_length": 1,
            "hash_ids": [2 * document, 2 * document + 1, 100 + number],
        }
        for number, document in enumerate(ANOMALY)
    )
    (tmp_path / "trace.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "toy.json").write_text(profile_to_json(toy_profile()))
    files = ("--trace", tmp_path / "trace.jsonl", "--profile", tmp_path / "toy.json")
    return [*files, "--block", 1, "--server", "instant", "--placer", "block:size=2"]


@pytest.mark.parametrize(
    ("slots", "eviction", "hits"),
    [
        (3, "fifo", 3),
        (4, "fifo", 2),
        (3, "lru", 2),
        (4, "lru", 4),
        (3, "kv=lru,states=fifo", 3),
        (4, "kv=fifo,states=lru", 4),
        ("30B", "kv=lru,states=fifo", 3),
    ],
)
def test_slots_for_states_are_the_frames_of_the_anomaly(
    slots: int | str, eviction: str, hits: int, flags: list[object], milepost: Milepost
) -> None:
    split = ("--capacity", "1 kB", "--pools", f"split:states={slots}", "--eviction", eviction)
    ended = milepost("run", *flags, *split, "--check", "--json")
    assert ended.code == 0
    summary, kept = ended.json, 40 if slots == 4 else 30
    assert summary["saved_tokens"] == 2 * hits
    misses = len(ANOMALY) - hits
    assert summary["pools"]["states"] == {
        "capacity_bytes": kept,
        "peak_bytes": kept,
        "evicted": misses - kept // 10,
        "lost_tokens": summary["lost_tokens"]["state_evicted"],
    }
    assert summary["pools"]["kv"] == {
        "capacity_bytes": 1000 - kept,
        "peak_bytes": 2 * 5 + len(ANOMALY),
        "evicted_bytes": 0,
        "lost_tokens": 0,
    }
    assert summary["lost_tokens"]["state_evicted"] == 2 * (misses - 5)
    assert summary["scenario"]["cache"]["pools"] == f"split:states={slots}"
    assert summary["scenario"]["policy"]["eviction"] == eviction


def test_the_terminal_tells_of_both_pools(flags: list[object], milepost: Milepost) -> None:
    split = ("--capacity", "1 kB", "--pools", "split:states=3", "--eviction", "fifo")
    lines = [" ".join(line.split()) for line in milepost("run", *flags, *split).out.splitlines()]
    assert "pool kv peak 22 B of 970 B, 0 B evicted" in lines
    assert "pool states peak 30 B of 30 B, 6 states evicted" in lines
    assert any(line.startswith("the checkpoint had been evicted (pool states) 8") for line in lines)
    unified = milepost("run", *flags, "--capacity", "1 kB")
    assert "pool" not in unified.out
    assert milepost("run", *flags, "--capacity", "1 kB", "--json").json["pools"] is None


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (["--pools", "half"], "--pools: 'cache.pools': unknown pools 'half'; expected unified, "),
        (
            ["--eviction", "kv=lru,states=lru"],
            "--eviction: 'policy.eviction' has a policy for each",
        ),
        (
            ["--pools", "split:states=3", "--eviction", "kv=lru"],
            "--eviction: eviction 'kv=lru': expected a policy for each of the pools kv and states",
        ),
        (
            ["--capacity", "100B", "--pools", "split:states=11"],
            "--capacity: 'cache.capacity': 100 B are less than the states alone take",
        ),
        (["--cut", "all"], "--cut: 'cache.cut': expected 'tail', 'block' or 'span', found 'all'"),
        (
            ["--evicts", "all"],
            "--evicts: 'cache.evicts': expected 'tail', 'block' or 'span', found",
        ),
        (["--cut", "tail", "--evicts", "run"], "--evicts: 'cache.evicts' is another name of"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_flag(
    wrong: list[str], line: str, flags: list[object], milepost: Milepost
) -> None:
    ended = milepost("run", *flags, *wrong)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(f"error: {line}")


def test_old_words_give_the_bytes_of_the_new_ones(
    flags: list[object], milepost: Milepost, tmp_path: Path
) -> None:
    words = (["--cut", "span"], ["--evicts", "run"], ["--set", "cache.evicts=run"])
    for number, each in enumerate(words):
        out = ("--out", tmp_path / str(number))
        assert milepost("run", *flags, "--capacity", "40B", *each, *out).code == 0
    first, *others = ((tmp_path / str(n) / "summary.json").read_bytes() for n in range(len(words)))
    assert others == [first, first]
    assert '"cut": "span"' in first.decode()


def test_pools_are_an_axis_of_a_sweep(
    flags: list[object], milepost: Milepost, tmp_path: Path
) -> None:
    pools = ("--pools", "unified", "--pools", "split:states=3", "--pools", "split:states=4")
    asked = (*flags, "--eviction", "fifo", "--capacity", "1 kB", *pools)
    ended = milepost("sweep", *asked, "--out", tmp_path / "out", "--jobs", 1, "-q")
    assert ended.code == 0
    cells = pl.read_parquet(tmp_path / "out" / "cells.parquet")
    assert cells["cache.pools"].to_list() == ["unified", "split:states=3", "split:states=4"]
    assert cells["saved_tokens"].to_list()[1:] == [6, 4]
    assert cells["pool_states_capacity_bytes"].to_list() == [None, 30, 40]
    assert cells["pool_states_evicted"].to_list() == [None, 6, 6]
    assert cells["pool_kv_evicted_bytes"].to_list() == [None, 0, 0]
    assert cells["pool_kv_peak_bytes"].dtype == pl.Int64
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Pool states" in page
    assert "6 states evicted" in page
    command = json.loads((tmp_path / "out" / "manifest.json").read_text())["command"]
    assert "--pools split:states=3 " in command
    assert milepost("report", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_a_command_line_gives_the_same_flags_again() -> None:
    sweep = SweepCommand(pools=["unified", "split:states=3"], cut="span", count_running=True)
    given = ["--pools", "unified", "--pools", "split:states=3", "--cut", "span", "--count-running"]
    assert sweep.command_line("sweep") == " ".join(["milepost sweep", *given, "--out DIR"])


def test_running_requests_that_find_no_room_are_rejected(
    flags: list[object], milepost: Milepost, tmp_path: Path
) -> None:
    """A request holds its 3 tokens and a state: 13 B, beside what it writes."""
    out = ("--out", tmp_path / "out")
    ended = milepost("run", *flags, "--capacity", "12B", "--count-running", "--json", *out)
    summary = ended.json
    assert (ended.code, summary["requests"]["rejected"]) == (0, len(ANOMALY))
    assert summary["lost_tokens"]["not_served"] == summary["prompt_tokens"] == 3 * len(ANOMALY)
    assert summary["bound_saved_tokens"] == 6  # were there no running requests
    records = pl.read_parquet(tmp_path / "out" / "records.parquet")
    assert set(records["status"]) == {REJECTED}
    assert set(records["replica"]) == {0}
    text = milepost("run", *flags, "--capacity", "12B", "--count-running").out
    assert "12 counted: 0 finished, 12 rejected, 0 unfinished" in text
    assert "the request was rejected or unfinished" in text
    assert milepost("run", *flags, "--capacity", "12B", "--json").json["requests"]["rejected"] == 0
    roomy = milepost("run", *flags, "--capacity", "33B", "--count-running", "--json").json
    assert roomy["requests"]["rejected"] == 0
