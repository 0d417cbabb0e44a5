"""`milepost drift`: from a study or from flags to answers, figures and a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost, milepost

__all__ = ["milepost"]  # a fixture

STUDY = """
title = "small"
[workload]
generator = "system_prompts:count=6"
drift = "rewrites:times=1,moved=600"
requests = 1000
[study]
replications = 2
warmup = 0.2
[grid]
"policy.placer" = ["optimal:budget=2,train=200", "optimal:budget=2,window=50"]
"""


def written(path: Path, before: int, after: int, requests: int) -> Path:
    """Write a trace whose prompts share their first blocks of 16 tokens, and change half-way."""
    rows = []
    for at in range(requests):
        # a quarter of the requests shares one block less, so that there are two depths
        shared = (before if at < requests // 2 else after) - (at % 4 == 0)
        ids = [*range(shared), 1000 + at]
        rows.append({"timestamp": at, "input_length": 16 * len(ids), "hash_ids": ids})
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_shift_of_a_trace_is_found_followed_and_priced(
    milepost: Milepost, tmp_path: Path
) -> None:
    trace = written(tmp_path / "t.jsonl", before=20, after=10, requests=1200)
    flags = ("--block", 16, "--budget", 1, "--window", "20,200", "--json")
    document = milepost("drift", "--trace", trace, *flags, "--out", tmp_path / "out").json
    kept = json.loads((tmp_path / "out" / "drift.json").read_text())
    assert {"answer": document["answer"], "caveats": document["caveats"]} | kept == document
    assert [step["request"] for step in document["steps"] if step["moved"]] == [600]
    assert document["change"] == 600
    assert document["laws"] == "hindsight"
    by_name = {each["placer"]: each for each in document["placers"]}
    assert by_name["clairvoyant"]["lost_tokens"] == 0
    # before: one checkpoint at 304 of 304 and 320; after: at 144 of 144 and 160
    share = (4 * 304 + 6 * 144) / (4 * 316 + 6 * 156)
    assert by_name["clairvoyant"]["saved_share"]["value"] == pytest.approx(share)
    kept = by_name["optimal:budget=1,train=200"]
    assert kept["saved_share"]["value"] == pytest.approx(4 * 304 / (4 * 316 + 6 * 156))
    assert kept["recovery_requests"] is None
    short, long = (by_name[f"optimal:budget=1,window={window}"] for window in (20, 200))
    assert 0 < short["recovery_requests"] < long["recovery_requests"] < 200
    assert short["lost_tokens"] < long["lost_tokens"] < kept["lost_tokens"]
    assert "the largest at about request 600" in document["answers"][0]
    assert "window 20" in document["answers"][1]
    after = next(answer for answer in document["answers"] if answer.startswith("After the change"))
    assert "again by “window 20”" in after
    assert after.endswith("never by “kept after 200”.")


def test_a_change_from_which_no_estimator_recovers_is_told_of(
    milepost: Milepost, tmp_path: Path
) -> None:
    trace = written(tmp_path / "t.jsonl", before=20, after=10, requests=1200)
    kept = ("--set", "policy.placer=optimal:budget=1,train=200")
    output = milepost("drift", "--trace", trace, "--block", 16, *kept).out
    assert "about request 600, 95 % of the best is saved again by none." in " ".join(output.split())


def test_nothing_is_reported_where_nothing_moves(milepost: Milepost, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.jsonl", before=20, after=20, requests=1000)
    output = milepost("drift", "--trace", trace, "--block", 16, "--window", "50,100").out
    assert output.startswith("No drift is seen: no window of 100 requests differs")


def test_generated_traffic_is_judged_by_its_true_law(
    milepost: Milepost, study: Path, tmp_path: Path
) -> None:
    document = milepost("drift", study, "--json", "--out", tmp_path / "one").json
    assert document["laws"] == "true"
    assert len(set(document["replications"])) == 2
    assert document["placers"][0]["saved_share"]["method"] == "replications"
    for each in document["placers"]:
        bounds = each["variation_bound_tokens"], each["kolmogorov_bound_tokens"]
        assert each["regret_tokens"] <= min(bounds)
    assert document["placers"][2]["lost_tokens"] < document["placers"][1]["lost_tokens"]
    milepost("drift", study, "--quiet", "--out", tmp_path / "two")
    for name in ("drift.json", "report.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_same_whatever_the_workers_and_where_it_stopped(
    milepost: Milepost, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.execution.runner.START_SECONDS", 0.0)  # workers, however small
    one, two = tmp_path / "one", tmp_path / "two"
    milepost("drift", study, "--quiet", "--jobs", 1, "--out", one)
    milepost("drift", study, "--quiet", "--jobs", 2, "--out", two)
    names = ("series.json", "drift.json", "report.html")
    whole = {name: (one / name).read_bytes() for name in names}
    assert {name: (two / name).read_bytes() for name in names} == whole
    kept = sorted(e for e in (one / "journal").glob("*.json") if e.name != "header.json")
    assert len(kept) > 4  # two placers on two replications, and other paces
    for gone in [*kept[::2], *(one / name for name in names)]:
        gone.unlink()
    left = {entry: entry.stat().st_mtime_ns for entry in kept[1::2]}
    assert "placers were done before" in milepost("drift", study, "--out", one).err
    assert {name: (one / name).read_bytes() for name in names} == whole
    assert {entry: entry.stat().st_mtime_ns for entry in left} == left


def test_a_folder_of_another_drift_study_is_refused(
    milepost: Milepost, study: Path, tmp_path: Path
) -> None:
    milepost("drift", study, "--quiet", "--out", tmp_path / "out")
    ended = milepost("drift", study, "--seed", 7, "--out", tmp_path / "out")
    assert ended.code == 2
    assert "holds the results of another study" in ended.err


def test_a_cluster_needs_a_folder_and_contradicts_jobs(milepost: Milepost, study: Path) -> None:
    address = "tcp://127.0.0.1:1"
    assert "needs --out DIR" in milepost("drift", study, "--cluster", address).err
    ended = milepost("drift", study, "--cluster", address, "--jobs", 2)
    assert "contradicts --cluster" in " ".join(ended.err.split())


def test_the_synthetic_mooncake_trace_moves_slowly(milepost: Milepost, shared: Path) -> None:
    trace = shared / "data/mooncake/synthetic_trace.jsonl.gz"
    document = milepost("drift", "--trace", trace, "--budget", 2, "--window", "200", "--json").json
    assert not any(step["moved"] for step in document["steps"])
    assert sum(each["moved"] for each in document["since_first"]) >= 20
    assert document["since_first"][-1]["kolmogorov"] > 0.9
    assert "moves slowly" in document["answers"][0]
    kept, window = document["placers"][1:3]
    assert kept["lost_share"]["low"] > window["lost_share"]["value"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--window", "50,x"], "--window: expected numbers of requests"),
        (["--window", "1"], "--window: expected numbers of requests"),
        (["--requests", "300"], "expected 600 requests or more"),
        (["--set", "policy.placer=branch"], "expected 'optimal:budget=...'"),
        (["--set", "grid.policy.placer=['optimal:budget=1','optimal:budget=2']"], "found 1 and 2"),
        (["--set", "grid.cache.capacity=['1 GiB']"], "varies policy.placer only"),
        (["--set", "policy.placer=optimal:budget=1", "--budget", "2"], "--budget contradicts"),
    ],
)
def test_what_cannot_be_studied_is_refused(
    milepost: Milepost, arguments: list[str], message: str
) -> None:
    ended = milepost("drift", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_trace_is_not_replicated(milepost: Milepost, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.jsonl", before=20, after=10, requests=700)
    ended = milepost("drift", "--trace", trace, "--block", 16, "--replications", 3)
    assert ended.code == 2
    assert "the same in every replication: expected 1, found 3" in ended.err


def test_a_trace_without_overlaps_is_bad_data(milepost: Milepost, tmp_path: Path) -> None:
    rows = [{"timestamp": at, "input_length": 16, "hash_ids": [at]} for at in range(900)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ended = milepost("drift", "--trace", tmp_path / "t.jsonl", "--block", 16)
    assert ended.code == 3
    assert "expected overlaps, found none" in ended.err


def test_overlaps_in_the_warm_up_alone_tell_nothing(milepost: Milepost, tmp_path: Path) -> None:
    ids = [[0], [0], *([at] for at in range(1, 900))]
    rows = [{"timestamp": 0, "input_length": 17, "hash_ids": [*each, 2000]} for each in ids]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ended = milepost("drift", "--trace", tmp_path / "t.jsonl", "--block", 16)
    assert ended.code == 3
    assert "expected overlaps after the first 200 requests, found none" in ended.err
