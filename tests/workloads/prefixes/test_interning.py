from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.trace.trace import Trace
from workloads.inspection import overlaps
from workloads.prefixes.interning import Interned, intern_blocks, intern_runs

BLOCK = 4

symbols = st.lists(st.integers(0, 2), max_size=6)
rows_of_blocks = st.lists(
    st.tuples(symbols, st.integers(1, BLOCK), st.booleans()), min_size=1, max_size=12
)


def flat(rows):
    offsets = np.array([0, *accumulate(len(row) for row in rows)], dtype=np.int64)
    return np.array([key for row in rows for key in row], dtype=np.uint64), offsets


def as_trace(interned: Interned) -> Trace:
    count = len(interned.leaf)
    nothing = np.full(count, -1, dtype=np.int32)
    outputs = np.zeros(count, dtype=np.int64)
    return Trace("t", interned.tree, interned.leaf, None, outputs, nothing, nothing)


def prefix_names(rows):
    names: dict[tuple[int, ...], int] = {}
    return [
        [names.setdefault(tuple(row[: at + 1]), len(names)) for at in range(len(row))]
        for row in rows
    ]


def shared_blocks(one, other):
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def naive_overlaps(rows, lengths):
    return [
        max(
            (
                min(shared_blocks(rows[at], rows[before]) * BLOCK, lengths[at], lengths[before])
                for before in range(at)
            ),
            default=0,
        )
        for at in range(len(rows))
    ]


def lengths_of(drawn):
    """A prompt ends inside its last block, or (floor-style) behind it without an id."""
    return [
        len(row) * BLOCK + part if tailed or not row else (len(row) - 1) * BLOCK + part
        for row, part, tailed in drawn
    ]


def check_laws(interned: Interned, lengths):
    tree = interned.tree
    assert tree.problem() is None
    assert tree.stop[interned.leaf].tolist() == lengths
    children = np.bincount(tree.parent[1:], minlength=tree.nodes)
    ends = np.bincount(interned.leaf, minlength=tree.nodes)
    assert all(children[1:][ends[1:] == 0] > 1), "a node split where nothing diverges or ends"


@given(rows_of_blocks)
def test_overlaps_equal_a_naive_comparison_of_rows_of_prefix_ids(drawn):
    lengths = lengths_of(drawn)
    rows = prefix_names([row for row, _, _ in drawn])
    keys, offsets = flat(rows)
    interned = intern_blocks(keys, offsets, np.array(lengths), BLOCK)
    assert not interned.content_keys
    check_laws(interned, lengths)
    assert overlaps(as_trace(interned)).tolist() == naive_overlaps(rows, lengths)


@given(rows_of_blocks, st.sampled_from([1, 2**20 + 7, 2**62]))
def test_overlaps_equal_a_naive_comparison_of_leading_runs_of_content_ids(drawn, spread):
    lengths = lengths_of(drawn)
    rows = [[symbol * spread for symbol in row] for row, _, _ in drawn]
    keys, offsets = flat(rows)
    interned = intern_blocks(keys, offsets, np.array(lengths), BLOCK)
    check_laws(interned, lengths)
    assert overlaps(as_trace(interned)).tolist() == naive_overlaps(rows, lengths)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=12))
def test_runs_of_any_length_overlap_to_the_end_of_the_last_shared_run(rows):
    named = prefix_names(rows)
    keys, offsets = flat(named)
    stops = [list(accumulate(1 + 3 * symbol for symbol in row)) for row in rows]
    interned = intern_runs(keys, np.array([s for row in stops for s in row]), offsets)
    check_laws(interned, [row[-1] for row in stops])
    naive = [
        max((([0, *stops[at]])[shared_blocks(rows[at], rows[b])] for b in range(at)), default=0)
        for at in range(len(rows))
    ]
    assert overlaps(as_trace(interned)).tolist() == naive


def test_nodes_stand_in_order_of_first_appearance_and_end_where_prompts_diverge():
    keys, offsets = flat([[7, 8, 9], [7, 8, 5, 6], [7]])
    interned = intern_blocks(keys, offsets, np.array([12, 15, 4]), BLOCK)
    assert interned.tree.parent.tolist() == [-1, 0, 1, 2, 2]
    assert interned.tree.start.tolist() == [0, 0, 4, 8, 8]
    assert interned.tree.stop.tolist() == [0, 4, 8, 12, 15]
    assert interned.leaf.tolist() == [3, 4, 1]


def test_one_block_that_ends_in_three_places_is_split_in_three():
    keys, offsets = flat([[1, 2], [1, 2], [1, 2, 3], [1, 2]])
    interned = intern_blocks(keys, offsets, np.array([7, 5, 9, 7]), BLOCK)
    assert interned.tree.stop.tolist() == [0, 5, 7, 9]
    assert interned.tree.parent.tolist() == [-1, 0, 1, 2]
    assert overlaps(as_trace(interned)).tolist() == [0, 5, 7, 7]


def test_a_tail_without_id_is_never_matched_but_adds_no_needless_node():
    keys, offsets = flat([[1, 2], [1, 2], [], [9]])
    interned = intern_blocks(keys, offsets, np.array([10, 10, 3, 6]), BLOCK)
    assert interned.tree.stop.tolist() == [0, 8, 10, 10, 3, 6]
    assert interned.tree.parent.tolist() == [-1, 0, 1, 1, 0, 0]
    assert overlaps(as_trace(interned)).tolist() == [0, 8, 0, 0]


@pytest.mark.parametrize("rows", [[[1, 2], [2]], [[1, 1]], [[1, 2], [3, 2]]])
def test_an_id_with_two_predecessors_names_content(rows):
    keys, offsets = flat(rows)
    lengths = np.array([BLOCK * len(row) for row in rows])
    assert intern_blocks(keys, offsets, lengths, BLOCK).content_keys


def test_ids_at_the_top_of_64_bits_stay_apart():
    keys, offsets = flat([[2**64 - 1], [2**64 - 2], [2**63], [2**64 - 1]])
    interned = intern_blocks(keys, offsets, np.full(4, BLOCK), BLOCK)
    assert interned.leaf.tolist() == [1, 2, 3, 1]


def test_long_columns_are_handled_in_pieces(monkeypatch):
    monkeypatch.setattr("workloads.prefixes.numbering._CHUNK", 3)
    rows = [[5, 6, 7, 8], [5, 6, 900_000], [5], [4, 3], [5, 6, 7, 8]]
    keys, offsets = flat(rows)
    lengths = [BLOCK * len(row) for row in rows]
    interned = intern_blocks(keys, offsets, np.array(lengths), BLOCK)
    assert not interned.content_keys
    assert overlaps(as_trace(interned)).tolist() == naive_overlaps(rows, lengths)
