"""Every format can be saved, opened again, inspected and validated."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from simulator.base.errors import DataError
from simulator.trace.trace import Trace
from tests.conftest import ROOT
from tests.workloads.formats.examples import EXAMPLES, FOLDERS
from workloads.export import export_mooncake
from workloads.formats import FORMATS
from workloads.inspection import inspect, overlaps
from workloads.opening import open_trace
from workloads.store import save
from workloads.validation import validate


@pytest.fixture(params=sorted(FORMATS))
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a small file or folder of each format."""
    path = tmp_path / "example"
    if request.param in FOLDERS:
        path.mkdir()
        for name, data in FOLDERS[request.param].items():
            (path / name).write_bytes(data)
    else:
        path.write_bytes(EXAMPLES[request.param])
    return path


def columns(trace: Trace) -> dict[str, Any]:
    named = {
        name: getattr(trace, name)
        for name in ("leaf", "arrival_seconds", "output_tokens", "session", "label", "after")
    }
    named |= {name: getattr(trace.tree, name) for name in ("parent", "start", "stop")}
    plain = {name: None if value is None else value.tolist() for name, value in named.items()}
    return plain | {
        name: getattr(trace, name) for name in ("name", "labels", "granularity", "notes")
    }


def test_a_saved_trace_is_the_trace(example: Path, tmp_path: Path) -> None:
    trace = open_trace(example)
    save(trace, tmp_path / "t.parquet")
    assert columns(open_trace(tmp_path / "t.parquet")) == columns(trace)


def test_json_lines_keep_lengths_times_and_overlaps(example: Path, tmp_path: Path) -> None:
    trace = open_trace(example)
    export_mooncake(trace, tmp_path / "t.jsonl", block=1)
    again = open_trace(tmp_path / "t.jsonl", block=1)
    assert again.prompt_tokens.tolist() == trace.prompt_tokens.tolist()
    assert again.output_tokens.tolist() == trace.output_tokens.tolist()
    if trace.after is None:  # known answers have no place in JSON lines of prompts
        assert overlaps(again).tolist() == overlaps(trace).tolist()
    if trace.arrival_seconds is not None:
        assert again.arrival_seconds is not None
        assert np.abs(again.arrival_seconds - trace.arrival_seconds).max() <= 1e-6


def test_it_is_inspected_and_validated(example: Path) -> None:
    figures = inspect(open_trace(example))
    json.dumps(figures.as_json(), allow_nan=False)
    assert not [anomaly for anomaly in validate(example) if anomaly.error]


def test_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    (tmp_path / "example").write_bytes(EXAMPLES["vidur"])
    save(open_trace(tmp_path / "example"), path)
    header = json.loads(pl.read_parquet_metadata(path)["milepost"])
    for version, message in ((2, "found 2, which a newer Milepost has written"), (0, "found 0")):
        metadata = {"milepost": json.dumps(header | {"version": version})}
        pl.read_parquet(path).write_parquet(path, metadata=metadata)
        with pytest.raises(DataError, match=f"expected version 1 of a saved trace, {message}"):
            open_trace(path)


def test_the_documented_way_to_read_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "trace-format.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page.partition("With pandas")[0], re.DOTALL)
    (tmp_path / "example").write_bytes(EXAMPLES["mooncake"])
    trace = open_trace(tmp_path / "example")
    save(trace, tmp_path / "trace.parquet")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["requests"]["prompt_tokens"].to_list() == trace.prompt_tokens.tolist()
    for column in (*names["requests"].columns, *names["nodes"].columns):
        assert column == "prompt_tokens" or f"| `{column}` |" in page
    for key in names["meta"]:
        assert f"`{key}`" in page
