"""Rows of threads by hand, and prompts interned from what they add only."""

from __future__ import annotations

import numpy as np

from workloads.prefixes.interning import intern_runs
from workloads.synthetic.threads import Threads


def test_rows_by_hand():
    threads = Threads.of(np.array([2, 1]))
    assert (threads.begin.tolist(), threads.last.tolist()) == ([0, 2], [1, 2])
    assert (threads.thread.tolist(), threads.turn.tolist()) == ([0, 0, 1], [0, 1, 0])
    heads = np.array([[7, 8], [7, 9]]), np.array([[10, 15], [10, 0]])
    keys, stops, answers = threads.rows(heads, np.array([3, 4, 5]), np.array([6, 1, 2]), 100)
    # 15 + 3 of the first prompt, 6 of its answer, 4 more; the second thread has no second part
    assert stops.tolist() == [[10, 15, 18], [18, 24, 28], [10, 0, 15]]
    assert keys.tolist() == [[7, 8, 100], [100, 101, 102], [7, 9, 104]]
    assert answers.tolist() == [101, 103, 105]


def test_no_threads():
    none = Threads.of(np.zeros(0, dtype=np.int64))
    assert (len(none), none.last.tolist()) == (0, [])


def test_rows_that_start_within_a_known_prompt_make_the_same_tree():
    whole = [[1, 2], [1, 2, 3, 4], [1, 5], [1, 2, 3, 4, 6, 7], [1, 2, 3, 8]]
    short = [[1, 2], [2, 3, 4], [1, 5], [4, 6, 7], [3, 8]]
    stop = {1: 10, 2: 12, 3: 15, 4: 20, 5: 13, 6: 21, 7: 30, 8: 16}
    trees = []
    for rows in (whole, short):
        keys = np.array([key for row in rows for key in row], dtype=np.uint64)
        stops = np.array([stop[int(key)] for key in keys])
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        trees.append(intern_runs(keys, stops, offsets))
    one, other = trees
    assert one.leaf.tolist() == other.leaf.tolist()
    assert one.tree.parent.tolist() == other.tree.parent.tolist()
    assert one.tree.stop.tolist() == other.tree.stop.tolist()
    assert one.tree.stop[one.leaf].tolist() == [12, 20, 13, 30, 16]
