from __future__ import annotations

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

HEADER = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"


@pytest.fixture
def write(tmp_path):
    def write(data):
        path = tmp_path / "azure.csv"
        path.write_bytes(data)
        return path

    return write


def test_rows_of_2023_are_exact_to_100_nanoseconds(write):
    path = write(
        HEADER
        + b"2023-11-16 18:17:03.9799600,4808,10\r\n"
        + b"2023-11-16 18:17:03.9799601,3180,8\r\n"
        + b"2023-11-16 19:17:03.9799600,2,0"
    )
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [4808, 3180, 2]
    assert trace.output_tokens.tolist() == [10, 8, 0]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1e-7, 3600]
    assert overlaps(trace).tolist() == [0, 0, 0]
    assert trace.granularity == 1
    assert "no prompt shares anything" in trace.notes[0]


def test_rows_of_2024_have_a_zone(write):
    path = write(
        HEADER
        + b"2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 00:00:00.017335+00:00,2399,6\n"
    )
    trace = open_trace(path)
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 0.007405]


def test_unsorted_rows_and_empty_prompts_are_noted(write):
    path = write(
        HEADER + b"2023-11-16 18:17:05,7,1\n2023-11-16 18:17:04,8,2\n2023-11-16 18:17:06,0,3\n"
    )
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [8, 7]
    assert "empty-prompt: 1 x a prompt of no token: left out" in trace.notes
    anomalies = {anomaly.what: anomaly for anomaly in validate(path)}
    assert anomalies["unsorted"].first_line == 3
    assert anomalies["empty-prompt"].first_line == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"2023-11-16,7,1", "field 'TIMESTAMP': expected a time like"),
        (b"2023-11-31 00:00:00,7,1", "field 'TIMESTAMP': expected a time like"),
        (b"2023-11-16 18:17:05Z,7,1", "field 'TIMESTAMP': expected a zone on every line"),
        (b",7,1", "field 'TIMESTAMP': expected a time on every line or on none"),
        (b"2023-11-16 18:17:05,-7,1", "field 'ContextTokens': expected 1 to 1,000,000,000 tokens"),
        (b"2023-11-16 18:17:05,7,-1", "field 'GeneratedTokens': expected 0 to"),
        (b"2023-11-16 18:17:05,7.5,1", "field 'ContextTokens': expected a whole number"),
        (b"2023-11-16 18:17:05,7,", "field 'GeneratedTokens': expected this field, found none"),
        (b"2023-11-16 18:17:05,7", "expected 3 cells as in the first line, found 2"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, line, message):
    path = write(HEADER + b"2023-11-16 18:17:04,9,1\n" + line + b"\n2023-11-16 18:17:06,3,1\n")
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [9, 3]


def test_a_unit_of_time_is_refused(write):
    with pytest.raises(UsageError, match="no such option"):
        open_trace(write(HEADER + b"2023-11-16 18:17:04,9,1\n"), time_unit="s")


@pytest.mark.parametrize(
    ("name", "requests", "prompts", "outputs", "span"),
    [
        ("azure_llm_2023/AzureLLMInferenceTrace_code.csv.gz", 8_819, 2048, 28, 3435.948056),
        ("azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz", 19_366, 1155, 211, 3501.721937),
        ("format_fixtures/azure_style_trace.csv", 20, 577, 84, 13.025088),
    ],
)
def test_totals_of_the_published_files(shared, name, requests, prompts, outputs, span):
    path = shared / "data" / name
    assert format_of(path) == "azure"
    trace = open_trace(path)
    assert len(trace) == requests
    assert round(trace.prompt_tokens.mean()) == prompts
    assert round(trace.output_tokens.mean()) == outputs
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds[-1] == pytest.approx(span, abs=1e-7)
    assert {anomaly.what for anomaly in validate(path)} - {"short-prompt"} == {"no-prefixes"}
