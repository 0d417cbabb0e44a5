from __future__ import annotations

from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate


def test_columns_are_read_in_their_units(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,591,140\n0.625,547,0\n")
    assert format_of(path) == "vidur"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [591, 547]
    assert trace.output_tokens.tolist() == [140, 0]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 0.125]
    assert overlaps(trace).tolist() == [0, 0]
    assert {"no-prefixes", "zero-output"} <= {anomaly.what for anomaly in validate(path)}


def test_incremental_rows_of_a_session_grow(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "arrived_at,num_prefill_tokens,num_decode_tokens,session_id\n0,32,8,7\n1,9,1,\n2,0,4,7\n"
    )
    trace = open_trace(path, rows="incremental")
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [32, 9, 40]
    assert overlaps(trace).tolist() == [0, 0, 40]
    assert trace.after is not None
    assert trace.tree.stop[trace.after].tolist() == [40, 10, 44]
    assert open_trace(path).prompt_tokens.tolist() == [32, 9]
