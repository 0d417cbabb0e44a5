from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.reports.cli.conftest import Milepost

SMALL = ("--set", "workload.requests=400", "--set", "workload.documents=5", "--capacity", "2 GiB")


@pytest.fixture
def runs(milepost: Milepost, tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "lru", tmp_path / "fifo"
    for folder in folders:
        flags = ("--placer", "branch", "--eviction", folder.name, "--out", folder, "-q")
        assert milepost("run", *SMALL, *flags).code == 0
    return folders


def test_what_differs_comes_first(milepost: Milepost, runs: tuple[Path, Path]) -> None:
    ended = milepost("compare", *runs)
    assert (ended.code, ended.err) == (0, "")
    settings, _, figures = ended.out.partition("Every figure")
    assert "policy.eviction" in settings
    assert "Paired figures of B" in ended.out
    assert "Tokens that were not saved" in figures


def test_the_json_is_that_of_the_two_summaries(milepost: Milepost, runs: tuple[Path, Path]) -> None:
    document = milepost("compare", *runs, "--measure", "token_hit_rate", "--json").json
    assert document["changes"] == [{"key": "policy.eviction", "a": "lru", "b": "fifo"}]
    (compared,) = document["comparisons"]
    for side, folder in zip("ab", runs, strict=True):
        records = pl.read_parquet(folder / "records.parquet")
        assert compared[side] == records["saved_tokens"].sum() / records["prompt_tokens"].sum()
    assert compared["difference"] == pytest.approx(compared["b"] - compared["a"])
    assert compared["low"] <= compared["difference"] <= compared["high"]
    assert sum(document["requests"].values()) == 400


def test_margins_say_what_is_tied(milepost: Milepost, runs: tuple[Path, Path]) -> None:
    rate = ("compare", *runs, "--measure", "token_hit_rate", "--measure", "mean_ttft")
    wide = milepost(*rate, "--margin-points", "100", "--margin-times", "0.99", "--json").json
    assert [each["verdict"] for each in wide["comparisons"]] == ["tied", "tied"]
    assert wide["margins"] == {"points": 100, "times": 0.99}
    time = wide["comparisons"][1]
    assert time["margin"] == pytest.approx(0.99 * time["a"])
    none = milepost(*rate, "--margin-points", "0", "--margin-times", "0")
    text = " ".join(none.out.split())
    assert "tied: within 0 points of a rate or 0 % of a time" in text
    assert " tied " not in text.partition("Every figure")[2].partition("note:")[0]


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--margin-points", "much"),
        ("--margin-points", "nan"),
        ("--margin-points", "101"),
        ("--margin-times", "2 points"),
        ("--margin-times", "100%"),
    ],
)
def test_a_margin_that_is_none_is_refused(
    milepost: Milepost, tmp_path: Path, flag: str, value: str
) -> None:
    ended = milepost("compare", tmp_path, tmp_path, flag, value)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert flag in ended.err


def test_a_change_beyond_its_limit_is_exit_99(milepost: Milepost, runs: tuple[Path, Path]) -> None:
    ended = milepost("compare", *runs, "--fail-if", "token_hit_rate<+99%", "--json")
    assert ended.code == 99
    assert ended.err.startswith("failed: --fail-if token_hit_rate<+99%: ")
    assert ended.err.count("\n") == 1
    assert ended.json["failed"] == [{"condition": "token_hit_rate<+99%", "place": {}}]
    assert milepost("compare", *runs, "--fail-if", "token_hit_rate<-99%").code == 0
    ended = milepost("compare", *runs, "--fail-if", "p50_ttft>1h")  # not among the usual four
    assert (ended.code, "p50_ttft" in ended.out) == (0, True)


def test_a_page_and_the_page_again(
    milepost: Milepost, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = milepost("compare", *runs, "--out", out, "--fail-if", "token_hit_rate<+99%")
    assert ended.code == 99
    assert ended.out.endswith(f"the page: {out / 'compare.html'}\n")
    page = (out / "compare.html").read_bytes()
    assert b"--fail-if &#39;token_hit_rate&lt;+99%&#39;" in page
    (out / "compare.html").unlink()
    ended = milepost("report", out)
    assert (ended.code, ended.out) == (0, f"{out / 'compare.html'}\n")
    assert (out / "compare.html").read_bytes() == page
    assert milepost("compare", *runs, "--out", out).code == 0
    before = sorted(runs[0].iterdir())
    ended = milepost("compare", *runs, "--out", runs[0])
    assert (ended.code, ended.out) == (2, "")
    assert "not empty and not the folder of a comparison" in ended.err
    assert sorted(runs[0].iterdir()) == before


def test_runs_of_other_traffic_are_refused(
    milepost: Milepost, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    milepost("run", *SMALL, "--seed", "3", "--out", other, "-q")
    ended = milepost("compare", runs[0], other)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "--unpaired" in ended.err
    assert milepost("compare", runs[0], other, "--unpaired").code == 0


def test_records_tell_which_requests_depend_on_each_other(
    milepost: Milepost, trace_file: Path, tmp_path: Path
) -> None:
    """Two conversations that share their first block, and a third that shares nothing."""
    with trace_file.open("a") as file:
        row = '{"timestamp": 99000, "input_length": 600, "output_length": 5, "hash_ids": [7, 8]}'
        file.write(row + "\n")
    out = tmp_path / "out"
    assert milepost("run", "--trace", trace_file, "--out", out, "-q").code == 0
    records = pl.read_parquet(out / "records.parquet")
    first, *others = records["document"].to_list()
    assert others[:2] == [first, first]
    assert others[2] != first
    assert records["session"].to_list() == [-1] * 4


@pytest.mark.usefixtures("no_page")
def test_two_sweeps(milepost: Milepost, study: Path, tmp_path: Path) -> None:
    folders = tmp_path / "a", tmp_path / "b"
    for folder, eviction in zip(folders, ("lru", "fifo"), strict=True):
        flags = ("--out", folder, "--jobs", "1", "-q", "--set", f"policy.eviction={eviction}")
        assert milepost("sweep", study, *flags).code == 0
    ended = milepost("compare", *folders)
    assert (ended.code, ended.err) == (0, "")
    assert "study.policy.eviction" in ended.out
    assert "branch, 1.0 GiB" in ended.out
    document = milepost("compare", *folders, "--json").json
    assert len(document["comparisons"]) == 12 * 4
    ended = milepost("compare", *folders, "--fail-if", "token_hit_rate<+1points", "--json")
    assert ended.code == 99
    assert len(ended.json["failed"]) == ended.err.count("\n") > 1
