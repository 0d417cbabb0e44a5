"""Flags that commands share: declared once, and the same everywhere."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from reports.commands.options import ReadingOptions
from reports.study.sections import READ_OPTIONS, WorkloadSection
from tests.reports.cli.conftest import Milepost
from workloads.options import ReadOptions

FLAGS = [f"--{field.name.replace('_', '-')}" for field in fields(ReadingOptions)]


def test_each_trace_flag_is_a_key_of_a_study_and_an_option_of_the_reader() -> None:
    names = {field.name for field in fields(ReadingOptions)}
    options = {field.name for field in fields(ReadOptions)} | {"format"}
    options -= {"default_template"}  # that of the profile's model, which no user states
    assert names | {"seed"} == options
    assert options <= set(WorkloadSection.model_fields)
    assert set(READ_OPTIONS) == options - {"format", "on_bad_line"}


@pytest.mark.parametrize(
    "command",
    [
        *("run", "sweep", "capacity", "drift", "place", "prototype"),
        *(f"trace {name}" for name in ("inspect", "convert", "slice", "sample", "merge")),
    ],
)
def test_commands_that_read_a_trace_have_all_its_flags(command: str, milepost: Milepost) -> None:
    page = milepost(*command.split(), "--help").out
    assert [flag for flag in FLAGS if f"  {flag} " not in page] == []


@pytest.mark.parametrize(("block", "code"), [(1 << 21, 0), (1 << 30, 0), ((1 << 30) + 1, 2)])
@pytest.mark.parametrize("command", ["run --trace", "trace inspect", "place --from-trace"])
def test_a_setting_has_one_bound_wherever_it_is_written(
    command: str, block: int, code: int, trace_file: Path, milepost: Milepost
) -> None:
    row = {"input_length": min(block, 10**9), "output_length": 1, "hash_ids": [1]}
    trace_file.write_text(2 * f"{json.dumps(row)}\n")
    assert milepost(*command.split(), trace_file, "--block", block).code == code


@pytest.mark.parametrize("command", ["drift --trace", "place --from-trace"])
def test_budgets_have_a_bound(command: str, trace_file: Path, milepost: Milepost) -> None:
    ended = milepost(*command.split(), trace_file, "--budget", 1_000_001)
    assert (ended.code, "--budget" in ended.err, ended.err.count("\n")) == (2, True, 1)
