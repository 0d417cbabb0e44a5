"""Load, overload and percentiles as commands tell them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from tests.reports.cli.conftest import Milepost

BUSY = ("--set", "workload.requests=120", "--set", "workload.documents=5", "--placer", "none")
SERVER = {
    "offered_load_nothing_saved",
    "offered_load",
    "offered_load_last_half",
    "utilisation",
    "wait_last_quarter_seconds",
    "queue_grows",
}


def test_an_overloaded_run_is_warned_of(milepost: Milepost) -> None:
    ended = milepost("run", *BUSY, "--rate", 100, "-q")
    assert ended.code == 0
    (warning,) = ended.err.splitlines()
    assert warning.startswith("warning: the server is overloaded and its queue grows to the end")
    assert "busy 100.0 % of the time up to the last arrival" in " ".join(ended.out.split())
    as_json = milepost("run", *BUSY, "--rate", 100, "--json")
    assert as_json.err == ended.err
    server = as_json.json["server"]
    assert server.keys() == SERVER
    assert server["queue_grows"] is True
    assert server["offered_load"] == server["offered_load_nothing_saved"] > 1


def test_a_calm_run_is_not(milepost: Milepost) -> None:
    ended = milepost("run", *BUSY, "--rate", 0.5, "--json")
    assert ended.err == ""
    assert 0 < ended.json["server"]["utilisation"] < 0.5
    assert ended.json["server"]["queue_grows"] is False


def test_the_instant_server_has_no_load(milepost: Milepost) -> None:
    ended = milepost("run", *BUSY, "--server", "instant", "-q")
    assert "offered load" not in ended.out + ended.err
    assert milepost("run", *BUSY, "--server", "instant", "--json").json["server"] is None


def test_run_tells_further_percentiles(milepost: Milepost) -> None:
    ended = milepost("run", *BUSY, "--percentiles", "99.9, 95,50", "--json")
    percentiles = ended.json["ttft_seconds"]
    assert [*percentiles] == ["mean", "p50", "p90", "p95", "p99", "p99.9", "count"]
    assert percentiles["p90"] < percentiles["p95"]
    assert percentiles["p99.9"] is None
    output = milepost("run", *BUSY, "--percentiles", "99.9,95").out
    assert "p99.9 n/a (n < 3,688)" in " ".join(output.split())
    assert ended.json["scenario"]["study"]["percentiles"] == [50.0, 95.0, 99.9]


@pytest.mark.parametrize("stated", ["x", "0", "100", "", "95,,99", "95;99", "1e1"])
def test_no_percentiles_are_one_line(milepost: Milepost, stated: str) -> None:
    ended = milepost("run", *BUSY, "--percentiles", stated)
    assert (ended.code, ended.out) == (2, "")
    assert "'study.percentiles': expected a percentile above 0 and below 100" in ended.err


def test_a_sweep_tells_load_and_percentiles(milepost: Milepost, tmp_path: Path) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        """
        [workload]
        requests = 120
        documents = 5
        [arrivals]
        rate = 100.0
        [study]
        percentiles = [95, 99.9]
        [grid]
        "policy.placer" = ["none", "last"]
        "server.kind" = ["queue", "instant"]
        """
    )
    ended = milepost("sweep", study, "--out", out, "--jobs", 1)
    assert ended.code == 0
    assert "servers busy 100.0 % to 100.0 %" in ended.err
    assert "warning: in 2 of 2 cells the server is overloaded" in ended.err
    cells = pl.read_parquet(out / "cells.parquet")
    assert cells["ttft_p95_seconds"].null_count() == 0
    assert cells["ttft_p99.9_seconds"].null_count() == 4
    assert cells["queue_grows"].to_list() == [True, None, True, None]
    assert cells["server_utilisation"].null_count() == 2
    page = (out / "report.html").read_text()
    assert "P95 TTFT" in page
    assert "n &lt; 3,688" in page
    assert "Overload: in 2 of 4 points the queue grows to the end of the trace" in page
    assert "The queue is said to grow where" in page
    assert re.search(r"server busy 100\.0\W+%, its queue grows", page)
    server = milepost("sweep", study, "--out", out, "--json").json["server"]
    assert (server["cells"], server["cells_whose_queue_grows"]) == (2, 2)
    assert server["utilisation"]["greatest"] == pytest.approx(1.0)
    resolved = (out / "study.resolved.toml").read_text()
    assert "percentiles = [95.0, 99.9]" in resolved
    changed = milepost("sweep", study, "--out", out, "--percentiles", "90", "-q")
    assert changed.code == 2  # another study
    assert json.loads((out / "manifest.json").read_text())["study"]["study"]["percentiles"]
