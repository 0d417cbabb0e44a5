"""`--policy` from end to end: run, split pools, sweep, report, compare, capacity and the lists."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from reports.commands.sweep import SweepCommand
from tests.reports.cli.conftest import Milepost

SMALL = ("--requests", 60, "--server", "instant")


def test_a_run_names_it_once(milepost: Milepost) -> None:
    ended = milepost("run", "--policy", "unified:rate=1", *SMALL, "--capacity", "2GiB", "--check")
    assert ended.code == 0
    assert "policies unified:rate=1.0 model" in ended.flat
    plan = milepost("run", "--policy", "unified", *SMALL, "--dry-run")
    assert plan.out.endswith("prompt tokens), unified\n")
    mixed = milepost("run", "--policy", "unified", "--eviction", "lru", *SMALL, "--dry-run")
    assert mixed.out.endswith("prompt tokens), unified, lru, unified\n")


def test_split_pools_have_an_order_each(milepost: Milepost) -> None:
    split = ("--capacity", "2GiB", "--pools", "split:states=8", "--check", "--json")
    summary = milepost("run", "--policy", "unified", *SMALL, *split).json
    assert summary["scenario"]["policy"]["eviction"] == "unified"
    assert summary["pools"]["kv"]["evicted_bytes"] > 0
    assert summary["pools"]["states"]["evicted"] > 0
    pair = milepost("run", "--policy", "adaptive+kv=lru,states=value", *SMALL, *split).json
    assert pair["scenario"]["policy"]["eviction"] == "kv=lru,states=value"


@pytest.mark.usefixtures("no_page")
def test_a_sweep_compares_whole_policies(milepost: Milepost, tmp_path: Path) -> None:
    sizes = (*SMALL, "--jobs", 1, "--capacity", "2GiB")
    both = ("--policy", "unified", "--policy", "adaptive+lru")
    ended = milepost("sweep", *both, *sizes, "--out", tmp_path / "both")
    assert ended.code == 0
    assert "adaptive · lru · always" in ended.flat
    assert "unified · unified" not in ended.flat
    cells = pl.read_parquet(tmp_path / "both" / "cells.parquet")
    assert cells.select("placer", "eviction", "admission").rows() == [
        ("unified", "unified", "unified"),
        ("adaptive", "lru", "always"),
    ]
    manifest = json.loads((tmp_path / "both" / "manifest.json").read_text())
    assert manifest["study"]["grid"] == {"policy.all": ["unified", "adaptive+lru"]}
    assert manifest["grid"]["policy.eviction"] == ["unified", "lru"]
    assert "--policy unified --policy adaptive+lru " in manifest["command"]
    assert milepost("report", tmp_path / "both").code == 0

    again = tmp_path / "both" / "study.resolved.toml"
    assert milepost("sweep", again, "--jobs", 1, "--out", tmp_path / "again").code == 0
    first, second = (tmp_path / folder / "cells.csv" for folder in ("both", "again"))
    assert first.read_bytes() == second.read_bytes()

    alone = milepost("sweep", "--policy", "unified", *sizes, "--out", tmp_path / "one")
    assert alone.code == 0
    compared = milepost("compare", tmp_path / "both", tmp_path / "one", "--json").json
    (rates,) = (row for row in compared["comparisons"] if row["measure"] == "token_hit_rate")
    assert rates["place"]["policy.placer"] == "unified"
    assert rates["verdict"] == "equal"


def test_a_capacity_search_names_it_once(milepost: Milepost) -> None:
    target = ("--target", "token_hit_rate>=1%", "--no-sensitivity", "--within", 0.5, "--jobs", 1)
    both = ("--policy", "unified", "--policy", "last+fifo")
    report = json.dumps(milepost("capacity", *both, *SMALL, *target, "--json").json)
    assert json.dumps("last · fifo · always") in report
    assert json.dumps("unified") in report
    assert json.dumps("unified · unified · unified") not in report


def test_a_command_line_gives_the_same_flags_again() -> None:
    sweep = SweepCommand(policy=["unified", "adaptive+lru"], eviction=["fifo"])
    words = "--policy unified --policy adaptive+lru --eviction fifo"
    assert sweep.command_line("sweep") == f"milepost sweep {words} --out DIR"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--policy", "unifid"), "error: --policy: policy 'unifid': unknown name 'unifid'; did"),
        (("--policy", "unified:rate=0"), "error: --policy: placer 'unified:rate=0': rate: expec"),
        (("--set", "policy.all=lru"), "error: --set: 'policy.all': policy 'lru': it names an e"),
    ],
)
def test_a_wrong_one_is_one_line(flags: tuple[str, ...], message: str, milepost: Milepost) -> None:
    ended = milepost("run", *flags)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(message)


def test_the_lists_begin_with_what_sets_several_kinds(milepost: Milepost) -> None:
    row = "policy unified The placer, eviction and admission of this name together: --policy unif"
    assert milepost("policies").flat.startswith(f"kind policy what it does {row}")
    one = milepost("policies", "unified").flat
    assert one.startswith("policy unified what it does The placer, eviction and admission of this")
    assert all(f" {kind} unified" in one for kind in ("placer", "eviction", "admission"))
    assert "--policy" not in milepost("policies", "lru").out
