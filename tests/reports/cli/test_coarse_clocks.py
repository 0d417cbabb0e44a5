"""Traces whose times are rounded to seconds: what is said, and how to spread them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost

Write = Callable[[float], Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Return a function that writes 60 requests, one a second, by a clock of some ticks."""

    def write(tick_seconds: float) -> Path:
        path = tmp_path / "clock.jsonl"
        rows = [
            {
                "timestamp": 1000 * tick_seconds * (1.01 * n // tick_seconds),
                "input_length": 4096,
                "output_length": 1,
                "hash_ids": list(range(8 * n, 8 * n + 8)),
            }
            for n in range(60)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


def test_run_says_what_the_clock_does(written: Write, milepost: Milepost) -> None:
    trace = written(5)
    ended = milepost("run", "--trace", trace, "--json", "--quiet")
    summary = ended.json
    spread = milepost("run", "--trace", trace, "--jitter", 1, "--json", "--quiet").json
    clock = summary["clock"]
    assert clock["tick_seconds"] == pytest.approx(5)
    assert clock["ttft_mean_seconds"] == summary["ttft_seconds"]["mean"]
    assert clock["jittered_ttft_mean_seconds"] == spread["ttft_seconds"]["mean"]
    assert spread["ttft_seconds"]["mean"] < summary["ttft_seconds"]["mean"]
    assert f"warning: {clock['warning']}\n" == ended.err
    assert "told in ticks of 5 s" in clock["warning"]
    assert "with arrivals spread within the tick (--jitter 1)" in clock["warning"]
    assert clock["warning"] in summary["trace"]["notes"]
    assert "clock" not in spread


@pytest.mark.parametrize(
    ("tick", "flags"), [(5, ["--server", "instant"]), (5, ["--jitter", "7"]), (0.001, [])]
)
def test_nothing_is_said_where_the_clock_does_not_matter(
    tick: float, flags: list[str], written: Write, milepost: Milepost
) -> None:
    ended = milepost("run", "--trace", written(tick), "--json", "--quiet", *flags)
    assert (ended.code, "warning" in ended.err, "clock" in ended.json) == (0, False, False)


def test_a_warm_up_that_is_found_holds_for_both(written: Write, milepost: Milepost) -> None:
    words = ("run", "--trace", written(5), "--json", "--quiet", "--set", "study.warmup=auto")
    clock = milepost(*words).json["clock"]
    assert 0 < clock["jittered_ttft_mean_seconds"] < clock["ttft_mean_seconds"]


def test_sweep_warns_and_its_page_too(written: Write, milepost: Milepost, tmp_path: Path) -> None:
    trace, out = written(5), tmp_path / "out"
    words = ("sweep", "--trace", trace, "--placer", "last", "--jobs", 1, "--quiet", "--json")
    ended = milepost(*words, "--out", out)
    [warning] = ended.json["warnings"]
    assert f"warning: {warning}" in ended.err
    assert "--jitter SEED" in warning
    assert "told in ticks of 5 s: bursts are of the clock" in (out / "report.html").read_text()
    spread = milepost(*words, "--jitter", 1, "--out", tmp_path / "spread")
    assert (spread.json["warnings"], "warning" in spread.err) == ([], False)


def test_capacity_warns_and_its_page_too(
    written: Write, milepost: Milepost, tmp_path: Path
) -> None:
    words = ["capacity", "--trace", written(5), "--placer", "last", "--capacity", "1GiB,2GiB"]
    words += ["--target", "mean_ttft<=9s", "--no-sensitivity", "--jobs", 1, "--quiet", "--json"]
    ended = milepost(*words, "--out", tmp_path / "out")
    [warning] = ended.json["warnings"]
    assert f"warning: {warning}" in ended.err
    page = (tmp_path / "out" / "capacity.html").read_text()
    assert "told in ticks of 5 s: bursts are of the clock" in page
    assert milepost(*words, "--jitter", 1).json["warnings"] == []


def test_a_saved_trace_is_jittered_too(written: Write, milepost: Milepost, tmp_path: Path) -> None:
    trace, saved = written(5), tmp_path / "saved.parquet"
    assert milepost("trace", "convert", trace, "--out", saved).code == 0
    first, second = (
        milepost("run", "--trace", path, "--jitter", 1, "--json", "--quiet").json
        for path in (trace, saved)
    )
    assert first["ttft_seconds"] == second["ttft_seconds"]
