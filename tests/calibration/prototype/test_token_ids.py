from __future__ import annotations

import numpy as np

from calibration.prototype.token_ids import TokenIds
from simulator.trace.prefix_tree import PrefixTree

TREE = PrefixTree(
    parent=np.array([-1, 0, 1, 1, 0], np.int32),
    start=np.array([0, 0, 100, 100, 0], np.int64),
    stop=np.array([0, 100, 150, 130, 60], np.int64),
)


def test_equal_prefixes_get_equal_tokens_and_others_do_not() -> None:
    ids = TokenIds(TREE, 50_000, seed=3)
    left, right, other = ids.prompt(2), ids.prompt(3), ids.prompt(4)
    assert (len(left), len(right), len(other)) == (150, 130, 60)
    assert (left[:100] == right[:100]).all()
    assert (left[100:130] != right[100:]).sum() >= 25
    assert (left[:60] != other).sum() >= 50


def test_the_seed_decides_and_ids_stay_within_the_vocabulary() -> None:
    first, again, another = (TokenIds(TREE, 7, seed).prompt(2) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != another).any()
    assert set(first) == set(range(7))
