from __future__ import annotations

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

HEADER = "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    return write


def notes(trace):
    return {note.partition(":")[0] for note in trace.notes}


def test_rounds_grow_and_rewind_within_their_session(write):
    trace = open_trace(
        write(
            HEADER + "a,0,0,0,100,10,0\n"
            "a,0,1,110,20,5,0\n"  # goes on behind the answer
            "a,0,2,60,7,1,0\n"  # cut back into the first prompt
            "a,0,3,68,2,0,0\n"  # goes on there
            "b,900000,0,110,20,5,0\n"  # of another session: shares nothing
        )
    )
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [100, 130, 67, 70, 130]
    assert overlaps(trace).tolist() == [0, 110, 60, 68, 0]
    assert trace.after is not None
    assert trace.tree.stop[trace.after].tolist() == [110, 135, 68, 70, 135]
    assert trace.session.tolist() == [0, 0, 0, 0, 1]
    assert notes(trace) == {"closed-loop", "rewind", "unknown-prefix"}


def test_rounds_come_after_the_answer_before_and_the_wait(write):
    text = HEADER + "a,500,0,0,100,50,250.5\na,500,1,150,9,10,0\na,500,2,169,9,1,0\n"
    trace = open_trace(write(text))
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == pytest.approx([0, 1.2505, 1.4505])
    in_seconds = open_trace(write(text + "b,501,0,0,5,1,0\n"), time_unit="s")
    assert in_seconds.arrival_seconds is not None
    assert in_seconds.arrival_seconds.tolist() == pytest.approx([0, 1, 1.2505, 1.4505])


def test_other_columns_and_orders(write):
    """The columns of `csv_export`, rounds out of order, two of one index, two arrival times."""
    text = (
        "id,input_len,output_len,arrival_time,round_idx,tool_wait_after_ms,prefix_len\n"
        "7,20,5,100.000000,1,0.000000,110\n"
        "7,100,10,100.000000,0,0.000000,0\n"
        "7,3,1,200.000000,1,0.000000,135\n"
    )
    trace = open_trace(write(text))
    assert trace.prompt_tokens.tolist() == [100, 130, 138]
    assert overlaps(trace).tolist() == [0, 110, 135]
    assert {"unsorted-rounds", "duplicate-round", "other-arrival"} <= notes(trace)


def test_sessions_without_arrivals_start_together_or_at_a_rate(write):
    text = "session_id,round_idx,prefix_len,input_len,output_len\n0,0,0,9,1\n1,0,0,8,1\n2,0,0,7,1\n"
    path = write(text)
    together = open_trace(path)
    assert together.arrival_seconds is not None
    assert together.arrival_seconds.tolist() == [0, 0, 0]
    assert "sessions-at-once" in notes(together)
    spread = open_trace(path, session_rate=0.5, seed=3)
    assert spread.arrival_seconds is not None
    assert spread.arrival_seconds[0] == 0 < spread.arrival_seconds[1]
    with pytest.raises(UsageError, match="says when its sessions start"):
        open_trace(write(HEADER + "0,5,0,0,9,1,0\n"), session_rate=0.5)


def test_cumulative_rows_hold_the_whole_prompt(write):
    path = write(HEADER + "a,0,0,0,100,10,0\na,0,1,110,130,5,0\n")
    trace = open_trace(path, rows="cumulative")
    assert trace.prompt_tokens.tolist() == [100, 130]
    assert overlaps(trace).tolist() == [0, 110]
    incremental = write(HEADER + "a,0,0,0,100,10,0\na,0,1,110,20,5,0\n")
    with pytest.raises(DataError, match=r":3: field 'input_len': expected 1 to"):
        open_trace(incremental, rows="cumulative")


def test_taking_cumulative_rows_for_incremental_ones_is_flagged(write):
    path = write(HEADER + "a,0,0,0,100,10,0\na,0,1,110,130,5,0\na,0,2,135,150,5,0\n")
    anomalies = {anomaly.what: anomaly.count for anomaly in validate(path)}
    assert anomalies["rewind"] == 1
    assert "rewind" not in {a.what for a in validate(path, rows="cumulative")}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,0,1,-1,20,5,0", "field 'prefix_len': expected 1 to"),
        ("a,0,1,110,-20,5,0", "field 'input_len': expected 1 to"),
        ("a,0,1,110,20,-5,0", "field 'output_len': expected 0 to"),
        ("a,0,1,110,20,5,-1", "field 'tool_wait_after_ms': expected a time from 0"),
        ("a,-5,1,110,20,5,0", "field 'arrival_time': expected a time from 0"),
        ("a,0,x,110,20,5,0", "field 'round_idx': expected a whole number, found 'x'"),
        (",0,1,110,20,5,0", "field 'session_id': expected this field, found none"),
        ("a,0,1,999999999,20,5,0", "field 'prefix_len': expected 1 to 1,000,000,000 tokens"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, line, message):
    path = write(HEADER + "a,0,0,0,100,10,0\n" + line + "\nb,0,0,0,9,1,0\n")
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [100, 9]


def test_the_published_example_of_three_sessions(shared):
    path = shared / "data" / "format_fixtures" / "tracelab_multi_session_example.csv"
    assert format_of(path) == "tracelab"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.arrival_seconds is not None
    times = [0, 0.2, 0.5, 1.24, 1.38, 1.83, 2.76, 2.84]
    assert trace.arrival_seconds.tolist() == pytest.approx(times)
    assert trace.prompt_tokens.tolist() == [512, 400, 600, 548, 704, 784, 896, 864]
    assert overlaps(trace).tolist() == [0, 0, 0, 448, 576, 664, 768, 784]
    assert trace.session.tolist() == [0, 1, 2, 1, 0, 2, 0, 2]


@pytest.mark.parametrize(
    ("name", "sessions", "rounds", "prompts", "outputs", "overlap"),
    [
        # sums of the columns; prefixes, but for the first of a session, are what is shared
        ("multi_session_large", 48, 303, 1_150_397, 58_678, 939_365),
        ("session_workload_example", 1, 11, 535_277, 24_798, 468_036),
    ],
)
def test_totals_of_the_published_files(shared, name, sessions, rounds, prompts, outputs, overlap):
    trace = open_trace(shared / "data" / "format_fixtures" / f"tracelab_{name}.csv")
    assert trace.problem() is None
    assert (len(set(trace.session.tolist())), len(trace)) == (sessions, rounds)
    assert trace.prompt_tokens.sum() == prompts
    assert trace.output_tokens.sum() == outputs
    assert overlaps(trace).sum() == overlap
