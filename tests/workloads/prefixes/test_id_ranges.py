from __future__ import annotations

from array import array
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.trace.trace import Trace
from workloads.inspection import overlaps
from workloads.prefixes.id_ranges import MAX_ID, IdRanges, ranges_of
from workloads.prefixes.prompts import BlockKeys

SIZES = (4, 6)

ids = st.lists(st.integers(0, 6), max_size=7)
rows_of_ids = st.lists(
    st.tuples(ids, st.integers(0, 1), st.sampled_from(SIZES), st.integers(1, 4), st.booleans()),
    min_size=1,
    max_size=12,
)


def as_ranges(names):
    """Cut a list of ids into maximal ranges of consecutive ones."""
    first, count = array("q"), array("q")
    for name in names:
        if first and first[-1] + count[-1] == name:
            count[-1] += 1
        else:
            first.append(name)
            count.append(1)
    return first, count


def length_of(names, block, part, tailed):
    """A prompt ends inside its last block, or (floor-style) behind it without an id."""
    whole = len(names) * block
    return whole + part if tailed or not names else whole - block + part


def as_trace(prompts, lengths, order=None):
    lengths = np.array(lengths, dtype=np.int64)
    ordered = lengths if order is None else lengths[order]
    interned = prompts.intern(ordered, order)
    nobody = np.full(len(lengths), -1, dtype=np.int32)
    outputs = np.zeros(len(lengths), dtype=np.int64)
    trace = Trace("t", interned.tree, interned.leaf, None, outputs, nobody, nobody)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == ordered.tolist()
    return trace, interned.content_keys


def shared(one, other):
    """Tokens shared by two rows: a leading run of ids of one scope and block size."""
    (names, scope, block, length), (others, *place, other_length) = one, other
    if [scope, block] != place:
        return 0
    blocks = 0
    while blocks < min(len(names), len(others)) and names[blocks] == others[blocks]:
        blocks += 1
    return min(blocks * block, length, other_length)


def check(rows, order=None):
    prompts = IdRanges()
    for names, scope, block, _ in rows:
        prompts.add(*as_ranges(names), scope, block)
    trace, content = as_trace(prompts, [row[-1] for row in rows], order)
    sorted_rows = rows if order is None else [rows[at] for at in order]
    expected = [
        max((shared(row, other) for other in sorted_rows[:at]), default=0)
        for at, row in enumerate(sorted_rows)
    ]
    assert overlaps(trace).tolist() == expected
    children = np.bincount(trace.tree.parent[1:], minlength=trace.tree.nodes)
    ends = np.bincount(trace.leaf, minlength=trace.tree.nodes)
    assert all(children[1:][ends[1:] == 0] > 1), "a node split where nothing diverges or ends"
    return content


@given(rows_of_ids)
def test_ids_of_content_are_matched_as_leading_runs(drawn):
    check(
        [
            (names, scope, block, length_of(names, block, part, tailed))
            for names, scope, block, part, tailed in drawn
        ]
    )


@given(rows_of_ids, st.randoms(use_true_random=False))
def test_ids_of_prefixes_are_matched_in_any_order_of_arrival(drawn, random):
    named: dict[tuple[object, ...], int] = {}
    rows = []
    for names, scope, block, part, tailed in drawn:
        prefixes = [
            named.setdefault((scope, block, *names[: at + 1]), len(named))
            for at in range(len(names))
        ]
        rows.append((prefixes, scope, block, length_of(names, block, part, tailed)))
    order = list(range(len(rows)))
    random.shuffle(order)
    assert not check(rows, np.array(order))


@given(rows_of_ids)
def test_blocks_of_several_sizes_become_ranges_of_them(drawn):
    blocks, sizes, rows = BlockKeys(1), array("q"), []
    for names, _, block, part, tailed in drawn:
        blocks.add(names)
        sizes.append(block)
        rows.append((names, 0, block, length_of(names, block, part, tailed)))
    trace, _ = as_trace(ranges_of(blocks, sizes), [row[-1] for row in rows])
    assert overlaps(trace).tolist() == [
        max((shared(row, other) for other in rows[:at]), default=0) for at, row in enumerate(rows)
    ]


def test_a_prompt_of_any_length_costs_no_more_than_a_short_one():
    prompts = IdRanges()
    for first, count in (([0], [MAX_ID // 4]), ([0, MAX_ID - 9], [7, 10])):
        prompts.add(array("q", first), array("q", count), 0, 2)
    lengths = [2 * (MAX_ID // 4), 34]
    assert prompts.pieces() == 4  # 0 to 6 twice, the rest of each
    trace, _ = as_trace(prompts, lengths)
    assert overlaps(trace).tolist() == [0, 14]


@pytest.mark.parametrize("sizes", [(16,), (16, 64), (6, 4, 10)])
def test_the_granularity_divides_every_block_size(sizes):
    prompts = IdRanges()
    for size in sizes:
        prompts.add(array("q"), array("q"), 0, size)
    assert prompts.granularity == gcd(*sizes)


def test_blocks_without_an_id_are_counted_by_row():
    prompts = IdRanges()
    for count in (2, 1, 3):
        prompts.add(array("q", [5]), array("q", [count]), 0, 16)
    lengths = np.array([32, 40, 47])
    assert prompts.missing_blocks(lengths).tolist() == [0, 2, 0]
    anomalies = prompts.anomalies(np.array([32, 31, 99]), array("q", [1, 2, 4]))
    assert {what: (odd.count, odd.first_line) for what, odd in anomalies.items()} == {
        "no-id-for-partial-block": (1, 2),
        "too-few-ids": (1, 4),
    }
