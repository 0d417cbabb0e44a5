"""A result belongs to the contents of its files, not to their names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from calibration.catalogue import open_profile
from reports.study import cells as study_cells
from reports.study.cells import expand, scenario_of
from reports.study.layers import read_settings
from reports.study.scenario import profile_named
from reports.study.traces import file_sha256, store_trace
from simulator.base import file_memory
from simulator.base.errors import DataError
from simulator.costs.profile import profile_to_json
from workloads import opening

ROW = {"input_length": 600, "output_length": 1, "hash_ids": [1, 2], "timestamp": 0}
OLD = (1_000_000_000, 1_000_000_000)


@pytest.fixture(autouse=True)
def remember_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember files however young, as if the tests had waited."""
    monkeypatch.setattr(file_memory, "SETTLED_SECONDS", 0.0)


def replace_with(path: Path, text: str) -> None:
    """Replace a file by one of the same name, size and time."""
    other = path.with_name("other")
    other.write_text(text)
    os.utime(other, OLD)
    other.replace(path)


def test_a_trace_that_was_replaced_has_another_hash_and_another_place(tmp_path: Path) -> None:
    trace, study = tmp_path / "t.jsonl", tmp_path / "s.toml"
    replace_with(trace, json.dumps(ROW))
    study.write_text('[workload]\ntrace = "t.jsonl"\n')
    stored = []
    for length in (600, 700):
        replace_with(trace, json.dumps(ROW | {"input_length": length}))
        planned, (cell,) = expand(read_settings(study))
        path, facts = store_trace(planned, cell.seed, tmp_path)
        assert facts.prompt_tokens == length
        stored.append((path, facts.sha256, cell.identity, file_sha256(str(trace))))
    assert all(before != after for before, after in zip(*stored, strict=True))


def test_a_trace_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, study = tmp_path / "t.jsonl", tmp_path / "s.toml"
    replace_with(trace, json.dumps(ROW))
    study.write_text('[workload]\ntrace = "t.jsonl"\n')
    planned, _ = expand(read_settings(study))
    open_trace = opening.open_trace

    def opened(path: Path, **options: object) -> object:
        read = open_trace(path, **options)
        replace_with(trace, json.dumps(ROW | {"input_length": 700}))
        return read

    monkeypatch.setattr(opening, "open_trace", opened)
    with pytest.raises(DataError, match="changed while it was read"):
        store_trace(planned, 0, tmp_path)


def test_a_profile_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    for shipped in ("qwen3.5-2b-h200", "qwen3.5-9b-h200"):
        mine.write_text(profile_to_json(open_profile(shipped)))
        assert profile_named(str(mine)) == open_profile(shipped)
        assert profile_named(f"{mine}:kv=fp8").kv_compression is not None


def test_a_cell_is_not_computed_with_a_later_profile(tmp_path: Path) -> None:
    mine, study = tmp_path / "mine.json", tmp_path / "s.toml"
    mine.write_text(profile_to_json(open_profile("qwen3.5-2b-h200")))
    study.write_text('[model]\nprofile = "mine.json"\n')
    _, (cell,) = expand(read_settings(study))
    assert scenario_of(cell).profile == open_profile("qwen3.5-2b-h200")
    mine.write_text(profile_to_json(open_profile("qwen3.5-9b-h200")))
    with pytest.raises(DataError, match="has changed since the study began"):
        study_cells.scenario_of(cell)
