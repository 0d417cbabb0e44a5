from __future__ import annotations

import pytest

from simulator.base.errors import DataError
from workloads.formats.vidur import NAMINGS
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


TABLES = {
    "vidur": ("num_prefill_tokens,num_decode_tokens", "arrived_at", "0.5"),
    "splitwise": ("prompt_size,token_size", "arrival_timestamp", "0.5"),
    "burstgpt": ("Request tokens,Response tokens", "Timestamp", "0.5"),
    "azure": ("ContextTokens,GeneratedTokens", "TIMESTAMP", "2024-05-10 00:00:00"),
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables_of_lengths_alone_have_no_times(tmp_path, name):
    names, time, written = TABLES[name]
    path = tmp_path / "lengths.csv"
    path.write_text(f"{names},pd_ratio\n3100,60,51.7\n1800,140,12.9\n")
    assert format_of(path) == name
    trace = open_trace(path)
    assert trace.arrival_seconds is None
    assert trace.prompt_tokens.tolist() == [3100, 1800]
    assert trace.output_tokens.tolist() == [60, 140]
    for cells in (("", written), (written, "")):
        rows = "".join(f"3100,60,{cell}\n" for cell in cells)
        path.write_text(f"{names},{time}\n{rows}")
        with pytest.raises(DataError, match=f":3: field '{time}': expected a time on every line"):
            open_trace(path)
    path.write_text(f"{names},{time}\n3100,60,\n1800,140,\n")
    assert open_trace(path).arrival_seconds is None


@pytest.mark.parametrize("time", ["", "arrived_at", "arrival_time", "timestamp"])
@pytest.mark.parametrize("names", NAMINGS[1:])
def test_lengths_are_read_by_other_common_names(tmp_path, names, time):
    path = tmp_path / "t.csv"
    path.write_text(f"{time or 'other'},{','.join(names)}\n0.5,591,140\n0.625,547,3\n")
    assert format_of(path) == "vidur"
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [591, 547]
    assert trace.output_tokens.tolist() == [140, 3]
    assert (trace.arrival_seconds is not None) == bool(time)
    times = f"times from '{time}' are in seconds" if time else "no times"
    assert any(f"'{names[0]}'" in note and times in note for note in trace.notes)
