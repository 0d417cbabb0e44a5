"""Profiles of sizes alone, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reports.cli.conftest import Milepost

SIZES = "sizes:model=nemotron-3-super-120b"


def test_show_tells_bytes_and_no_times(milepost: Milepost) -> None:
    output = milepost("profiles", "show", SIZES).out
    assert "170,229,760 bytes" in output
    assert "8.0 KiB a token" in output
    assert "prefill" not in output
    (row,) = milepost("profiles", "show", SIZES, "--json").json["profiles"]
    assert (row["state_bytes"], row["kv_bytes_per_token"]) == (170_229_760, 8192)
    refused = milepost("profiles", "show", SIZES, "--out", "x.html")
    assert refused.code == 2
    assert "nothing to draw" in refused.err


def test_a_run_saves_tokens_and_tells_no_time(milepost: Milepost, tmp_path: Path) -> None:
    flags = ("run", "--profile", SIZES, "--capacity", "64 GiB")
    ended = milepost(*flags, "--server", "instant", "--json", "--out", tmp_path / "run")
    assert ended.json["saved_tokens"] > 0
    assert ended.json["ttft_seconds"]["count"] == 0
    assert ended.json["ttft_seconds"]["mean"] is None
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ttft_seconds"]["mean"] is None
    assert "tells sizes, no times" in milepost(*flags, "--server", "instant").out
    refused = milepost(*flags)
    assert refused.code == 2
    assert "(--server instant)" in refused.err
