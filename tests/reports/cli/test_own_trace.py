"""`--trace`: one's own traffic in any study, and studies from flags alone."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import ROOT
from tests.reports.cli.conftest import Ended, Milepost

STUDIES = ROOT / "studies"
GALLERY = sorted(str(path.relative_to(STUDIES)) for path in STUDIES.rglob("*.toml"))


@pytest.fixture(params=["with times", "without times"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a trace of 40 prompts that share their first blocks."""
    rows = [
        {"input_length": 1500, "output_length": 5, "hash_ids": [n % 4, 10 + n % 8, 100 + n]}
        | ({"timestamp": 700 * n + n % 3} if request.param == "with times" else {})
        for n in range(40)
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def cells(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "cells.parquet")


@pytest.mark.parametrize("name", GALLERY)
def test_every_study_of_the_gallery_takes_one(name: str, own: Path, milepost: Milepost) -> None:
    words = ("sweep", STUDIES / name, "--trace", own, "--jitter", 3, "--dry-run", "--json")
    ended = milepost(*words)
    assert ended.code == 0, ended.err
    assert ended.json["replications"] == 1
    assert ended.json["requests"] == 40 * ended.json["cells"]


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize("name", ["demo.toml", "paper/drift.toml", "evictions/sessions.toml"])
def test_it_is_what_is_replayed(name: str, own: Path, milepost: Milepost, tmp_path: Path) -> None:
    flags = ("--placer", "branch", "--eviction", "lru", "--admission", "always")
    words = ("--trace", own, *flags, "--capacity", "8GiB", "--jobs", 1)
    ended = milepost("sweep", STUDIES / name, *words, "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert cells(tmp_path / "out").height == 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["trace"]["name"], manifest["trace"]["requests"]) == ("own", 40)


def test_what_is_not_used_is_said(own: Path, milepost: Milepost) -> None:
    notes = milepost("sweep", STUDIES / "demo.toml", "--trace", own, "--dry-run").err
    place = f"note: {STUDIES / 'demo.toml'}: "
    instead = "own.jsonl is replayed instead of the study's workload: title, [workload], [arrivals]"
    assert notes.splitlines() == [
        f"{place}{instead} not used",
        f"{place}study.replications = 5 is not used: a trace is replayed once, and has intervals "
        "where it is long enough to tell",
    ]


def test_capacity_with_one_s_own_trace(own: Path, milepost: Milepost) -> None:
    words = ("--target", "token_hit_rate>=1%", "--no-sensitivity", "--jobs", 1, "--json")
    study = milepost("capacity", STUDIES / "capacity.toml", "--trace", own, *words)
    assert study.code == 0, study.err
    assert study.json["trace"]["requests"] == 40
    assert study.json["replications"] == 1
    flags = ("--placer", "branch", "--placer", "optimal:budget=8,window=100", "--eviction", "lru")
    sizes = ("--capacity", "1GiB,2GiB", "--capacity", "unbounded")
    alone = milepost("capacity", "--trace", own, *flags, *sizes, *words)
    assert alone.code == 0, alone.err
    assert [answer["name"] for answer in alone.json["answers"]] == ["branch", "optimal:budget=8"]
    assert "--capacity 1GiB --capacity 2GiB --capacity unbounded" in alone.json["command"]


def test_run_replaces_a_study_s_workload_whole(own: Path, milepost: Milepost) -> None:
    single = ("--placer", "last", "--eviction", "lru", "--admission", "always")
    words = ("--capacity", "8 GiB", "--json", "--trace", own)
    ended = milepost("run", STUDIES / "comparison.toml", *words, *single)
    assert ended.code == 0, ended.err
    assert ended.json["trace"]["requests"] == 40
    assert "is not used: it is not among the placers of --placer" in ended.err


@pytest.mark.usefixtures("no_page")
def test_a_sweep_from_flags_alone(own: Path, milepost: Milepost, tmp_path: Path) -> None:
    placers = ("--placer", "branch", "--placer", "optimal:budget=8,window=50")
    words = ("--trace", own, *placers, "--eviction", "lru", "--capacity", "8GiB,16 GiB")
    ended = milepost("sweep", *words, "--out", tmp_path / "out", "--jobs", 1)
    assert ended.code == 0, ended.err
    table = cells(tmp_path / "out")
    assert table.height == 4
    assert set(table["placer"]) == {"branch", "optimal:budget=8,window=50"}


def refusal(ended: Ended) -> str:
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    return ended.err.removeprefix("error: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", "--out", "x"], "sweep: expected STUDY.toml, or flags in its place"),
        (["capacity", "--target", "p90_ttft<=1s"], "capacity: expected STUDY.toml, or flags"),
        (["sweep", "--capacity", "1,024 MiB"], "--capacity: expected sizes, each with its unit"),
        (["sweep", "--capacity", "8GiB,"], "--capacity: expected sizes, each with its unit"),
        (["sweep", "--capacity", "8GiB,8x", "--dry-run"], "--capacity: [grid]: 'cache.capacity'"),
        (["sweep", "--placer", "last", "--placer", "lst", "--dry-run"], "did you mean 'last'?"),
        (["run", "--placer", "last", "--placer", "none"], "the study has 2 cells and `run` takes"),
    ],
)
def test_bad_flags_are_one_line(words: list[str], message: str, milepost: Milepost) -> None:
    assert message in refusal(milepost(*words))
