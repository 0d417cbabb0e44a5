from __future__ import annotations

import pytest

from workloads.opening import format_of, open_trace
from workloads.validation import validate

HEADER = (
    "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
)


def test_columns_are_read_in_their_units(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "0,2,4,1,1,4096,32\n1,2,5,3.25,1,2048,8\n2,2,4,4,1,0,8\n")
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [4096, 2048]
    assert trace.output_tokens.tolist() == [32, 8]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2.25]
    assert trace.labels == ("4", "5")
    in_ms = open_trace(path, time_unit="ms").arrival_seconds
    assert in_ms is not None
    assert in_ms.tolist() == [0, 0.00225]
    assert "empty-prompt: 1 x a prompt of no token: left out" in trace.notes


def test_other_requests_are_left_out_and_batches_noted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "0,0,0,1,1,4096,32\n1,2,0,3,4,2048,8\n")
    assert open_trace(path).prompt_tokens.tolist() == [2048]
    anomalies = {anomaly.what: anomaly.first_line for anomaly in validate(path)}
    assert anomalies["other-request"] == 2
    assert anomalies["batched"] == 3


def test_the_published_file(shared):
    path = shared / "data" / "format_fixtures" / "splitwise_test_trace.csv"
    assert format_of(path) == "splitwise"
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [4096, 2048, 2048]
    assert trace.output_tokens.tolist() == [32, 8, 16]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2, 3]


@pytest.mark.parametrize("cell", ["1.5", "-3", "x"])
def test_a_prompt_that_is_no_count_is_a_bad_line(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(HEADER + f"0,2,0,1,1,{cell},32\n1,2,0,3,1,2048,8\n")
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [2048]
    assert validate(path)[0].what == "bad-line"
