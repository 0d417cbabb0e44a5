"""Arrivals taken from a trace."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simulator.base.errors import DataError, UsageError
from workloads.arrivals import read_process


@pytest.fixture
def trace(tmp_path):
    def write(*milliseconds):
        rows = [{"input_length": 9, "output_length": 1, "hash_ids": [i]} for i in range(4)]
        for row, time in zip(rows, milliseconds, strict=False):
            row["timestamp"] = time
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    return write


def test_times_are_those_of_the_trace_and_go_round(trace):
    process = read_process(f"trace:path={trace(1000, 2000, 2500, 7000)}")
    assert process.rate_per_second == 0.5
    assert process.times(3, seed=0).tolist() == [0.0, 1.0, 1.5]
    # the mean gap stands between the last request and the first one again
    assert process.times(7, seed=0).tolist() == [0.0, 1.0, 1.5, 6.0, 8.0, 9.0, 9.5]


def test_a_rate_stretches_them(trace):
    process = read_process(f"trace:rate=2,path={trace(1000, 2000, 2500, 7000)}")
    assert process.rate_per_second == 2.0
    assert np.allclose(process.times(4, seed=0), [0.0, 0.25, 0.375, 1.5])


def test_a_trace_without_times_tells_none(trace):
    for path in (trace(), trace(5, 5, 5, 5)):
        with pytest.raises(DataError, match="expected two requests or more with times that differ"):
            read_process(f"trace:path={path}").times(3, seed=0)
    with pytest.raises(UsageError, match="expected a path"):
        read_process("trace").times(3, seed=0)
