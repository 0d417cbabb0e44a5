from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.trace.trace import Trace
from workloads.inspection import overlaps
from workloads.prefixes.prompts import TokenLists
from workloads.prefixes.token_lists import common_prefix

lists = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=12)


def interned(prompts, answers=None, order=None):
    rows = TokenLists()
    answers = answers or [None] * len(prompts)
    for tokens, answer in zip(prompts, answers, strict=True):
        rows.add(as_tokens(tokens), None if answer is None else as_tokens(answer))
    lengths = np.array([len(tokens) for tokens in prompts], dtype=np.int64)
    return rows.intern(lengths, order)


def as_tokens(tokens):
    return np.array(tokens, dtype=np.int32)


def as_trace(prompts, answers=None):
    prefixes = interned(prompts, answers)
    nobody = np.full(len(prompts), -1, dtype=np.int32)
    outputs = np.zeros(len(prompts), dtype=np.int64)
    return Trace(
        "t", prefixes.tree, prefixes.leaf, None, outputs, nobody, nobody, after=prefixes.after
    )


def shared(one, other):
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


@given(lists)
def test_overlaps_are_those_of_the_token_lists(prompts):
    trace = as_trace(prompts)
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
    assert interned(prompts).tree.nodes == len(cuts)


@given(lists, st.randoms())
def test_the_order_of_arrival_numbers_the_nodes_not_the_order_of_the_file(prompts, random):
    order = list(range(len(prompts)))
    random.shuffle(order)
    mixed = interned(prompts, order=np.array(order))
    sorted_before = interned([prompts[at] for at in order])
    assert mixed.leaf.tolist() == sorted_before.leaf.tolist()
    assert mixed.tree.parent.tolist() == sorted_before.tree.parent.tolist()
    assert mixed.tree.stop.tolist() == sorted_before.tree.stop.tolist()


def test_nodes_are_numbered_as_prompts_and_then_their_answers_reach_them():
    prefixes = interned([[1, 2], [1, 3], [1, 2, 5]], [[4], None, [6]])
    assert prefixes.tree.parent.tolist() == [-1, 0, 1, 2, 1, 2, 5]
    assert prefixes.tree.stop.tolist() == [0, 1, 2, 3, 2, 3, 4]
    assert prefixes.leaf.tolist() == [2, 4, 5]
    assert prefixes.after is not None
    assert prefixes.after.tolist() == [3, -1, 6]


def test_an_empty_answer_ends_where_its_prompt_does():
    prefixes = interned([[1, 2]], [[]])
    assert prefixes.after is not None
    assert prefixes.after.tolist() == prefixes.leaf.tolist() == [1]


def test_a_list_that_is_changed_afterwards_changes_nothing():
    rows, tokens = TokenLists(), as_tokens([1, 2, 3])
    rows.add(tokens)
    tokens[:] = 9
    rows.add(as_tokens([1, 2, 3]))
    assert rows.intern(np.array([3, 3]), None).tree.nodes == 2


def test_tokens_of_every_value_are_told_apart():
    extreme = [-(2**31), -1, 0, 1, 2**31 - 1]
    assert interned([[token] for token in extreme]).tree.nodes == 6


def test_long_common_prefixes_are_measured_to_the_token():
    one = np.zeros(100_000, dtype=np.int32)
    for at in (0, 255, 256, 1279, 1280, 99_999):
        other = one.copy()
        other[at] = 1
        assert common_prefix(one, other) == at
    assert common_prefix(one, one[:777]) == 777
