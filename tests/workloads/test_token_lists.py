from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.trace import Trace
from workloads.inspection import overlaps
from workloads.token_lists import common_prefix, intern_token_lists

lists = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=12)


def as_trace(prompts, answers):
    prompts = [np.array(tokens, dtype=np.int32) for tokens in prompts]
    behind = [
        None if answer is None else np.concatenate([tokens, np.array(answer, dtype=np.int32)])
        for tokens, answer in zip(prompts, answers, strict=True)
    ]
    interned = intern_token_lists(prompts, behind)
    nobody = np.full(len(prompts), -1, dtype=np.int32)
    outputs = np.zeros(len(prompts), dtype=np.int64)
    return Trace(
        "t", interned.tree, interned.leaf, None, outputs, nobody, nobody, after=interned.after
    )


def shared(one, other):
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


@given(lists)
def test_overlaps_are_those_of_the_token_lists(prompts):
    trace = as_trace(prompts, [None] * len(prompts))
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [len(tokens) for tokens in prompts]
    expected = [
        max((shared(tokens, other) for other in prompts[:at]), default=0)
        for at, tokens in enumerate(prompts)
    ]
    assert overlaps(trace).tolist() == expected


@given(lists, st.data())
def test_answers_count_once_they_were_given(prompts, data):
    answer = st.none() | st.lists(st.integers(0, 2), max_size=4)
    answers = [data.draw(answer) for _ in prompts]
    trace = as_trace(prompts, answers)
    assert trace.problem() is None
    seen: list[list[int]] = []
    expected = []
    for tokens, given_answer in zip(prompts, answers, strict=True):
        expected.append(max((shared(tokens, other) for other in seen), default=0))
        seen += [tokens, tokens + (given_answer or [])]
    assert overlaps(trace).tolist() == expected


@given(lists)
def test_nodes_are_as_few_as_divergences_and_ends_make_them(prompts):
    distinct = {tuple(tokens) for tokens in prompts}
    cuts = set(distinct) | {()}
    for one in distinct:
        for other in distinct:
            cuts.add(one[: shared(one, other)])
    interned = intern_token_lists([np.array(tokens, dtype=np.int32) for tokens in prompts])
    assert interned.tree.nodes == len(cuts)


def test_long_common_prefixes_are_measured_to_the_token():
    one = np.zeros(100_000, dtype=np.int32)
    for at in (0, 255, 256, 1279, 1280, 99_999):
        other = one.copy()
        other[at] = 1
        assert common_prefix(one, other) == at
    assert common_prefix(one, one[:777]) == 777
