from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.base.errors import UsageError
from workloads.inspection import inspect, overlaps
from workloads.synthetic import SyntheticSpec, generate
from workloads.synthetic.builtin.contents import draw_contents


def columns(trace):
    tree = trace.tree
    return (
        tree.parent,
        tree.stop,
        trace.leaf,
        trace.arrival_seconds,
        trace.output_tokens,
        trace.session,
        trace.label,
    )


@pytest.mark.parametrize("drift", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", [0, 11])
def test_a_generated_trace_keeps_all_rules(drift, seed):
    trace = generate(SyntheticSpec(requests=1500, drift=drift, seed=seed))
    assert trace.problem() is None
    assert len(trace) == 1500
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds[0] == 0
    assert trace.granularity == 1
    assert set(trace.label.tolist()) == {0, 1, 2}
    chat = trace.labels.index("chat")
    assert ((trace.session >= 0) == (trace.label == chat)).all()
    assert trace.output_tokens.min() > 0
    children = np.bincount(trace.tree.parent[1:], minlength=trace.tree.nodes)
    ends = np.bincount(trace.leaf, minlength=trace.tree.nodes)
    assert (children[1:][ends[1:] == 0] > 1).all()


def test_one_seed_gives_one_trace_and_another_seed_another():
    spec = SyntheticSpec(requests=400, drift=0.5)
    one, again = generate(spec), generate(spec)
    assert all((a == b).all() for a, b in zip(columns(one), columns(again), strict=True))
    other = generate(SyntheticSpec(requests=400, drift=0.5, seed=1))
    assert not np.array_equal(one.arrival_seconds, other.arrival_seconds)


def test_drift_changes_contents_but_not_the_traffic():
    still = generate(SyntheticSpec(requests=800, turns_mean=1.0))
    moving = generate(SyntheticSpec(requests=800, turns_mean=1.0, drift=1.0))
    assert (still.arrival_seconds == moving.arrival_seconds).all()
    assert (still.label == moving.label).all()
    assert inspect(moving).ideal_saved_tokens < inspect(still).ideal_saved_tokens


@pytest.mark.parametrize("kind", ["question", "system", "chat"])
def test_a_workload_of_one_kind_has_only_that(kind):
    weights = {f"{name}_weight": float(name == kind) for name in ("question", "system", "chat")}
    trace = generate(SyntheticSpec(requests=300, **weights))
    assert {trace.labels[at] for at in trace.label} == {kind}


def test_questions_about_one_document_share_it_and_little_more():
    spec = SyntheticSpec(requests=400, system_weight=0, chat_weight=0, documents=5)
    contents = draw_contents(spec.seed, spec.documents, spec.system_prompts, 8000)
    ends = 48 + contents.document_tokens[:, 0] + contents.instruction_tokens[0]
    overlap = overlaps(generate(spec))
    hits = overlap[overlap > 48]
    assert len(hits) == 400 - 5
    beyond = (hits[:, None] - ends).astype(float)
    beyond[beyond < 0] = np.inf
    assert beyond.min(axis=1).max() <= 8


def test_popularity_follows_zipf():
    spec = SyntheticSpec(
        requests=20_000, system_weight=0, chat_weight=0, documents=3, zipf_exponent=1.0
    )
    trace = generate(spec)
    path = [trace.tree.path(leaf)[1] for leaf in trace.leaf.tolist()]
    counts = sorted(np.unique(path, return_counts=True)[1].tolist(), reverse=True)
    expected = np.array([6, 3, 2]) / 11 * 20_000
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_the_next_turn_contains_the_last_prompt_and_its_answer():
    trace = generate(SyntheticSpec(requests=600, question_weight=0, system_weight=0))
    last: dict[int, tuple[int, int, float]] = {}
    followed = 0
    assert trace.arrival_seconds is not None
    rows = zip(
        trace.session.tolist(),
        trace.leaf.tolist(),
        trace.output_tokens.tolist(),
        trace.arrival_seconds.tolist(),
        trace.prompt_tokens.tolist(),
        overlaps(trace).tolist(),
        strict=True,
    )
    for session, leaf, output, time, prompt, overlap in rows:
        if session in last:
            before, answer, then = last[session]
            assert before in trace.tree.path(leaf)
            assert overlap == trace.tree.stop[before]
            assert prompt > overlap + answer
            assert time > then + 0.02 * answer
            followed += 1
        last[session] = leaf, output, time
        assert prompt <= 8192
    assert followed > 300


def test_rewrites_keep_the_sections_before_the_first_changed_one():
    contents = draw_contents(3, 1, 50, 8000)
    version, stop = contents.section_version, contents.section_stop
    for before in range(4):
        same = (version[:, before] == version[:, before + 1]).cumprod(axis=1).astype(bool)
        assert (stop[:, before][same] == stop[:, before + 1][same]).all()
        assert not same[:, -1].any(), "a rewrite changes the last section at least"
    assert (np.diff(stop, axis=2) >= 250).all()


def test_the_rate_is_reached_once_chats_are_under_way():
    trace = generate(SyntheticSpec(requests=20_000, rate_per_second=5.0))
    times = trace.arrival_seconds
    assert times is not None
    middle = times[(times > times[-1] / 4) & (times < times[-1] * 3 / 4)]
    assert 4.5 < len(middle) / (middle[-1] - middle[0]) < 5.3


@pytest.mark.parametrize(
    "wrong",
    [
        {"requests": 0},
        {"requests": 1.5},
        {"requests": 10**12},
        {"drift": 1.1},
        {"drift": math.nan},
        {"drift": True},
        {"rate_per_second": 0.0},
        {"rate_per_second": math.inf},
        {"seed": -1},
        {"documents": 0},
        {"zipf_exponent": -1.0},
        {"turns_mean": 0.5},
        {"think_seconds_median": 0.0},
        {"question_weight": -0.1},
        {"question_weight": 0.0, "system_weight": 0.0, "chat_weight": 0.0},
        {"document_tokens_median": 10},
        {"system_prompts": "many"},
    ],
)
def test_a_field_out_of_range_is_refused(wrong):
    with pytest.raises(UsageError):
        SyntheticSpec(**wrong)


@pytest.mark.parametrize("requests", [1, 2, 3])
def test_very_small_workloads(requests):
    for seed in range(20):
        trace = generate(SyntheticSpec(requests=requests, seed=seed))
        assert trace.problem() is None
        assert len(trace) == requests
