"""`milepost trace generate` and `run` with generators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost
from workloads.arrivals import ARRIVALS
from workloads.drift import DRIFTS
from workloads.synthetic import GENERATORS

FLAGS = ("--generator", "chats:turns_mean=3", "--arrivals", "gamma:cv=3", "--rate", 2)


def test_generated_traffic_is_a_trace_like_any_other(milepost: Milepost, tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    drift = ("--drift", "growth:factor=3", "--requests", 200, "--json")
    made = milepost("trace", "generate", "--out", out, *FLAGS, *drift)
    assert made.code == 0
    trace = milepost("run", "--trace", out, "--json").json["trace"]
    assert trace["requests"] == 200
    assert trace["prompt_tokens"] == made.json["prompt_tokens"]
    assert "growth:factor=3.0" in trace["notes"][0]


def test_run_takes_a_generator(milepost: Milepost) -> None:
    few = ("--set", "workload.requests=100")
    ended = milepost("run", *FLAGS, *few, "--json")
    assert ended.code == 0
    assert ended.json["trace"]["name"] == "chats"
    mixed = ("--generator", "1 chats + 2 documents:count=3")
    assert milepost("run", *mixed, *few, "--json").json["trace"]["name"] == "mixture"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--generator", "chatz"), "--generator: 'workload.generator': generator 'chatz'"),
        (("--arrivals", "gamma:cv=x"), "--arrivals: 'arrivals.process': arrivals 'gamma:cv=x'"),
        (("--drift", "2"), "--drift: 'workload.drift': expected a number from 0.0 to 1.0"),
        (("--generator", "chats", "--drift", "2"), "--drift: 'workload.drift': expected text"),
        (("--requests", "0"), "--requests: 'workload.requests': expected an integer from 1"),
    ],
)
def test_what_is_wrong_names_its_flag(
    milepost: Milepost, tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    ended = milepost("trace", "generate", "--out", tmp_path / "t.parquet", *flags)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert message in ended.err
    assert not (tmp_path / "t.parquet").exists()


def test_what_there_is_can_be_listed(milepost: Milepost) -> None:
    entries = milepost("trace", "generate", "--list", "--json").json["names"]
    named = {(entry["kind"], entry["name"]) for entry in entries}
    tables = {"generator": GENERATORS, "drift": DRIFTS, "arrivals": ARRIVALS}
    assert named == {(kind, name) for kind, table in tables.items() for name in table}
    assert all(entry["summary"].endswith((".", ",", ":")) for entry in entries)
    assert any("turns_mean=6.0" in entry["usage"] for entry in entries)
    assert "mmpp:levels=1/10" in milepost("trace", "generate", "--list").out
    ended = milepost("trace", "generate")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
