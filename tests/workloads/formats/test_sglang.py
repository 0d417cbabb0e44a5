from __future__ import annotations

import json

import numpy as np
import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

SMALL = {
    "gsp-num-groups": 3,
    "gsp-prompts-per-group": 4,
    "gsp-system-prompt-len": 100,
    "gsp-question-len": 10,
    "gsp-output-len": 5,
}


@pytest.fixture
def write(tmp_path):
    def write(parameters):
        path = tmp_path / "gsp.json"
        text = parameters if isinstance(parameters, str) else json.dumps(parameters)
        path.write_text(text)
        return path

    return write


def test_groups_share_their_system_prompt_only(write):
    path = write(SMALL | {"backend": "sglang", "gsp-ordered": True})
    assert format_of(path) == "sglang"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [110] * 12
    assert trace.output_tokens.tolist() == [5] * 12
    assert overlaps(trace).tolist() == [0, 100, 100, 100] * 3
    assert trace.arrival_seconds is None
    assert trace.session.tolist() == [-1] * 12


def test_toml_and_underscores_are_the_same(write):
    text = "".join(f"{name.replace('-', '_')} = {value}\n" for name, value in SMALL.items())
    toml, plain = open_trace(write(text)), open_trace(write(SMALL))
    assert toml.leaf.tolist() == plain.leaf.tolist()
    assert toml.prompt_tokens.tolist() == plain.prompt_tokens.tolist()


def test_missing_parameters_have_the_defaults_of_the_benchmark(write):
    trace = open_trace(write({"gsp-num-groups": 2}))
    assert len(trace) == 32
    assert set(trace.prompt_tokens.tolist()) == {2048 + 128}
    assert set(trace.output_tokens.tolist()) == {256}


def test_prompts_are_shuffled_by_the_seed(write):
    def orders(**others):
        return overlaps(open_trace(write(SMALL | others))).tolist()

    assert orders(seed=1) == orders(seed=1) != orders(seed=2)
    assert sorted(orders(seed=1)) == [0] * 3 + [100] * 9
    path = write(SMALL | {"seed": 1})
    assert overlaps(open_trace(path, seed=2)).tolist() == orders(seed=2)


def test_lengths_are_uniform_within_the_range_ratio(write):
    parameters = SMALL | {"gsp-num-groups": 1, "gsp-prompts-per-group": 4000}
    parameters |= {"gsp-system-prompt-len": 0, "gsp-question-len": 99, "gsp-range-ratio": 0.5}
    lengths = open_trace(write(parameters)).prompt_tokens
    assert (lengths.min(), lengths.max()) == (49, 99)
    error = np.sqrt((51**2 - 1) / 12 / 4000)
    assert abs(lengths.mean() - 74) < 4 * error


def test_turns_grow_and_sessions_start_at_the_rate(write):
    path = write(SMALL | {"gsp-num-turns": 3, "request-rate": 2.0})
    trace = open_trace(path)
    assert trace.problem() is None
    assert len(trace) == 36
    assert trace.arrival_seconds is not None
    for session in range(12):
        at = np.flatnonzero(trace.session == session)
        assert trace.prompt_tokens[at].tolist() == [110, 125, 140]
        assert np.diff(trace.arrival_seconds[at]).tolist() == pytest.approx([0.1, 0.1])
    assert overlaps(trace).sum() == 9 * 100 + 12 * (115 + 130)
    assert open_trace(write(SMALL | {"request-rate": "inf"})).arrival_seconds is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gsp-num-group": 3}, "unknown parameter 'gsp-num-group'; did you mean 'gsp_num_groups'?"),
        ({"gsp-num-groups": 0}, "field 'gsp_num_groups'"),
        ({"gsp-num-groups": 2.5}, "field 'gsp_num_groups': expected a whole number, found float"),
        ({"gsp-num-groups": "3"}, "field 'gsp_num_groups': expected a whole number, found str"),
        ({"gsp-question-len": -1}, "field 'gsp_question_len'"),
        ({"gsp-range-ratio": 1.5}, "field 'gsp_range_ratio'"),
        ({"gsp-num-groups": 10**6, "gsp-num-turns": 10**6}, "at most 1,000,000 requests in all"),
        ({"gsp-system-prompt-len": 0, "gsp-question-len": 0}, "prompts of at least one token"),
        ({"gsp-num-groups": 3, "request-rate": -1.0}, "field 'request_rate': expected inf, or"),
        ({"gsp-num-groups": 3, "request-rate": "fast"}, "field 'request_rate': expected inf, or"),
        ({"gsp-num-groups": 3, "gsp_num_groups": 4}, "expected each parameter once"),
        ({"seed": 3}, "expected parameters that begin with gsp-, found none"),
        ("gsp-num-groups = \n", "expected parameters in JSON or TOML, found"),
        ('{"gsp-num-groups": NaN}', "expected parameters in JSON or TOML, found"),
    ],
)
def test_wrong_parameters_are_named(write, parameters, message):
    with pytest.raises(DataError) as caught:
        open_trace(write(parameters), format="sglang")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
