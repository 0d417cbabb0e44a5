from __future__ import annotations

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

OLD = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
NEW = (
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "burst.csv"
        path.write_text(text)
        return path

    return write


def test_columns_of_the_first_releases(write):
    path = write(
        OLD + "5,ChatGPT,472,18,490,Conversation log\n45.5,GPT-4,1087,230,1317,API log\n"
        "118,GPT-4,417,276,693,API log\n"
    )
    assert format_of(path) == "burstgpt"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [472, 1087, 417]
    assert trace.output_tokens.tolist() == [18, 230, 276]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 40.5, 113]
    assert trace.labels == ("Conversation log, ChatGPT", "API log, GPT-4")
    assert trace.label.tolist() == [0, 1, 1]
    assert trace.session.tolist() == [-1, -1, -1]
    assert overlaps(trace).tolist() == [0, 0, 0]


def test_failures_are_kept_and_counted(write):
    path = write(OLD + "5,ChatGPT,472,0,472,API log\n6,ChatGPT,9,3,12,API log\n")
    trace = open_trace(path)
    assert trace.output_tokens.tolist() == [0, 3]
    assert "failure: 1 x no response token: a failed request, kept" in trace.notes
    anomalies = {anomaly.what: anomaly for anomaly in validate(path)}
    assert anomalies["failure"].first_line == 2
    assert anomalies["failure"].count == 1


def test_sessions_of_later_releases_share_nothing_or_grow(write):
    path = write(
        NEW + "10.0,a,3,GPT-4,100,20,120,Conversation log\n"
        "11.0,b,3,GPT-4,50,5,55,Conversation log\n"
        "12.0,a,3,GPT-4,30,7,37,Conversation log\n"
        "13.0,,3,GPT-4,8,1,9,API log\n"
    )
    whole = open_trace(path)
    assert whole.session.tolist() == [0, 1, 0, -1]
    assert whole.prompt_tokens.tolist() == [100, 50, 30, 8]
    assert overlaps(whole).tolist() == [0, 0, 0, 0]
    grown = open_trace(path, rows="incremental")
    assert grown.problem() is None
    assert grown.prompt_tokens.tolist() == [100, 50, 150, 8]
    assert overlaps(grown).tolist() == [0, 0, 120, 0]
    assert any(note.startswith("no-session: 1 x") for note in grown.notes)


def test_taking_incremental_rows_for_cumulative_ones_or_the_reverse_is_flagged(write):
    path = write(NEW + "1,a,3,M,100,20,120,L\n2,a,3,M,30,7,37,L\n")
    assert "shrinking-turn" in anomalies_in(path)
    assert not {"shrinking-turn", "growing-turn"} & anomalies_in(path, rows="incremental")
    path = write(NEW + "1,a,3,M,100,20,120,L\n2,a,3,M,150,7,157,L\n")
    assert "growing-turn" in anomalies_in(path, rows="incremental")
    assert not {"shrinking-turn", "growing-turn"} & anomalies_in(path)


def anomalies_in(path, **options):
    return {anomaly.what for anomaly in validate(path, **options)}


def test_an_idle_head_is_flagged(write):
    ramp = "".join(f"{10_000 * at},M,9,1,10,L\n" for at in range(3))
    busy = "".join(f"{30_000 + at},M,9,1,10,L\n" for at in range(300))
    anomalies = {anomaly.what: anomaly for anomaly in validate(write(OLD + ramp + busy))}
    assert (
        anomalies["idle-head"].detail
        == "the first 1% of the requests take 99% of the time (30,000 s)"
    )
    assert "idle-head" not in {anomaly.what for anomaly in validate(write(OLD + busy))}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("6,M,10,3,12,L", "field 'Total tokens': expected 10 + 3 tokens of request and response"),
        ("6,M,,3,12,L", "field 'Request tokens': expected this field, found none"),
        ("-6,M,9,3,12,L", "field 'Timestamp': expected a time from 0 to 1e+13, found -6"),
        ("nan,M,9,3,12,L", "field 'Timestamp': expected a time from 0 to"),
        (",M,9,3,12,L", "field 'Timestamp': expected a time on every line or on none"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, line, message):
    path = write(OLD + f"5,M,9,3,12,L\n{line}\n7,M,4,1,5,L\n")
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [9, 4]
