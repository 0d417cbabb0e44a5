"""Names of files that are no UTF-8, which Python has as halves of surrogate pairs."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from reports.compare.compare import compare_folders
from reports.compare.stored import read_comparison
from reports.documents import read_document
from reports.files import write_csv, write_json, write_parquet
from reports.pages.comparison import comparison_report, kept_report
from reports.report.store import store
from reports.results.columns import column
from reports.study.settings import to_toml
from simulator.base.errors import DataError
from simulator.base.files import write_text
from tests.reports.compare.folders import write_run

ODD = os.fsdecode(b"\xff.jsonl")
SHOWN = r"\udcff.jsonl"


def test_json_reads_as_the_escaped_name(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"schema_version": 1, ODD: [ODD]})
    assert json.loads((tmp_path / "a.json").read_bytes()) == {"schema_version": 1, SHOWN: [SHOWN]}
    assert read_document(tmp_path / "a.json", dict, "a test")[1][SHOWN] == [SHOWN]


def test_toml_reads_as_the_escaped_name() -> None:
    text = to_toml({"title": ODD, "workload": {"trace": ODD}})
    assert tomllib.loads(text) == {"title": SHOWN, "workload": {"trace": SHOWN}}
    text.encode()


def test_tables_hold_the_escaped_name(tmp_path: Path) -> None:
    frame = pl.DataFrame([column("workload", [ODD, None]), column("error", [ODD, None])])
    write_parquet(tmp_path / "a.parquet", frame)
    write_csv(tmp_path / "a.csv", frame)
    assert pl.read_parquet(tmp_path / "a.parquet")["workload"].to_list() == [SHOWN, None]
    assert (tmp_path / "a.csv").read_text().splitlines()[1] == f"{SHOWN},{SHOWN}"


def test_text_and_messages_show_it(tmp_path: Path) -> None:
    write_text(tmp_path / "a.html", f"<p>{ODD}</p>")
    assert (tmp_path / "a.html").read_bytes() == rb"<p>\udcff.jsonl</p>"
    str(DataError(ODD, "odd", field=ODD)).encode()


def test_runs_in_such_folders_are_compared_and_shown_again(tmp_path: Path) -> None:
    a = tmp_path / os.fsdecode(b"a\xff")
    write_run(tmp_path / "a", [10, 12], [0, 1], [1.0, 2.0]).rename(a)
    runs = compare_folders(a, a)
    folder = tmp_path / os.fsdecode(b"b\xff")
    odd = replace(runs, notes=(ODD,))
    store(comparison_report(odd, [], f"milepost compare {ODD}"), folder)
    _, kept = read_comparison(folder)
    assert kept["a"] == str(tmp_path / r"a\udcff")
    assert SHOWN in (folder / "compare.html").read_text()
    store(kept_report(folder), folder)
