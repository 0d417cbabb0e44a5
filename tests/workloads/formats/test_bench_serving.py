from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.opening import format_of, open_trace
from workloads.validation import validate

RUN = {
    "duration": 4.5,
    "completed": 2,
    "input_lens": [100, 30, 40],
    "output_lens": [10, 0, 1520],
    "ttfts": [0.1, 0.0, 0.2],
    "start_times": [5000.25, 5001.5, 5000.75],
    "generated_texts": ["a", "", "b"],
    "errors": ["", "timeout", ""],
}


@pytest.fixture
def write(tmp_path):
    def write(*runs, indent=None):
        path = tmp_path / "result.json"
        path.write_text("\n".join(json.dumps(run, indent=indent) for run in runs))
        return path

    return write


@pytest.mark.parametrize("indent", [None, 2])
def test_lengths_and_times_of_a_run(write, indent):
    path = write(RUN, indent=indent)
    assert format_of(path) == "bench-serving"
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [100, 40, 30]
    assert trace.output_tokens.tolist() == [10, 1520, 0]
    assert trace.arrival_seconds.tolist() == [0, 0.5, 1.25]
    assert "failure" in {a.what for a in validate(path)}


def test_runs_follow_each_other_and_may_have_no_times(write):
    plain = {name: RUN[name] for name in ("input_lens", "output_lens")}
    path = write(plain, plain)
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [100, 30, 40] * 2
    assert trace.arrival_seconds is None
    assert "several-runs" in {a.what for a in validate(path)}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (RUN | {"output_lens": [1]}, ":1: field 'output_lens': expected 3 entries"),
        (RUN | {"output_lens": None}, ":1: field 'output_lens': expected this field, found none"),
        (RUN | {"output_lens": [1, -2, 3]}, r":1: field 'output_lens\[1\]': expected 0 to"),
        (RUN | {"input_lens": [], "output_lens": [], "start_times": [], "errors": []}, "requests"),
    ],
)
def test_what_does_not_fit_is_named(write, run, message):
    with pytest.raises(DataError, match=message):
        open_trace(write(run), format="bench-serving")


def test_a_run_with_a_bad_request_is_dropped_as_a_whole(write):
    bad = {"input_lens": [10, -4, 20], "output_lens": [1, 1, 1]}
    good = {"input_lens": [30], "output_lens": [1]}
    trace = open_trace(write(bad, good), on_bad_line="skip")
    assert trace.prompt_tokens.tolist() == [30]
    assert any(note.startswith("1 line skipped as bad") for note in trace.notes)
