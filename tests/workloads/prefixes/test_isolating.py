from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workloads.inspection import overlaps
from workloads.prefixes.isolating import isolated
from workloads.prefixes.prompts import BlockKeys, TokenLists
from workloads.rows import Rows, to_trace

PROMPTS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 2), min_size=1, max_size=6),
        st.none() | st.lists(st.integers(0, 2), max_size=4),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


def trace_of(prompts):
    tokens = TokenLists()
    rows = Rows(tokens)
    for number, (prompt, answer, key) in enumerate(prompts):
        known = None if answer is None else np.array(answer, dtype=np.int32)
        tokens.add(np.array(prompt, dtype=np.int32), known)
        rows.isolation.look(number, {"cache_salt": f"s{key}" if key else None})
        rows.add(number, len(prompt), len(answer or ()), None)
    return to_trace(rows, "t")


def common(one, other):
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@given(PROMPTS)
def test_prompts_share_what_they_shared_within_their_key_and_nothing_across(prompts):
    trace = trace_of(prompts)
    assert trace.problem() is None
    seen: list[tuple[list[int], int]] = []
    expected = []
    for prompt, answer, key in prompts:
        expected.append(max((common(prompt, old) for old, of in seen if of == key), default=0))
        seen.append((prompt + (answer or []), key))
    assert overlaps(trace).tolist() == expected
    assert trace.prompt_tokens.tolist() == [len(prompt) for prompt, _, _ in prompts]
    for at, (prompt, answer, _) in enumerate(prompts):
        if answer is not None:
            assert trace.after is not None
            assert trace.tree.stop[trace.after[at]] == len(prompt) + len(answer)


@given(PROMPTS)
def test_no_run_is_split_for_prompts_of_another_key(prompts):
    nodes = sum(
        trace_of([row for row in prompts if row[2] == key]).tree.nodes - 1 for key in range(3)
    )
    assert trace_of(prompts).tree.nodes - 1 == nodes


def test_prompts_that_share_nothing_are_left_as_they_are():
    keys = BlockKeys(4)
    for ids in ([1, 2], [3], [1]):
        keys.add(ids)
    interned = keys.intern(np.array([8, 4, 4]), None)
    assert isolated(interned, np.array([0, 1, 0])) is interned
    apart = isolated(interned, np.array([0, 0, 1]))
    assert apart.tree.stop.tolist() == [0, 8, 4, 4]
    assert apart.tree.parent.tolist() == [-1, 0, 0, 0]
    assert apart.leaf.tolist() == [1, 2, 3]
