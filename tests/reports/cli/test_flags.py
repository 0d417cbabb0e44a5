"""Flags that commands share: declared once, and the same everywhere."""

from __future__ import annotations

from dataclasses import fields

import pytest

from reports.commands.options import TraceFlags
from reports.study.sections import READ_OPTIONS, Workload
from tests.reports.cli.conftest import Milepost
from workloads.options import ReadOptions

FLAGS = [f"--{field.name.replace('_', '-')}" for field in fields(TraceFlags)]


def test_each_trace_flag_is_a_key_of_a_study_and_an_option_of_the_reader() -> None:
    names = {field.name for field in fields(TraceFlags)}
    options = {field.name for field in fields(ReadOptions)} | {"format"}
    assert names | {"seed"} == options
    assert options <= set(Workload.model_fields)
    assert set(READ_OPTIONS) == options - {"format", "on_bad_line"}


@pytest.mark.parametrize(
    "command",
    [
        *("run", "sweep", "capacity", "drift", "prototype"),
        *(f"trace {name}" for name in ("inspect", "convert", "slice", "sample", "merge")),
    ],
)
def test_commands_that_read_a_trace_have_all_its_flags(command: str, milepost: Milepost) -> None:
    told = milepost(*command.split(), "--help").out
    assert [flag for flag in FLAGS if f"  {flag} " not in told] == []
