"""Numbering of keys by first occurrence, and conversion of content keys to prefix keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Keys = NDArray[np.uint64] | NDArray[np.int64]

_CHUNK = 1 << 20  # keys processed at once, so that no temporary array is as long as the trace


def number(keys: Keys) -> tuple[Int32, Int32]:
    """Assign numbers from 0 to fewer than 2**31 keys, in the order in which they first occur.

    Returns
    -------
    The number of each key (shape of `keys`), and the index of each number's first occurrence
    (ascending).
    """
    if not len(keys):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    if int(keys.max()) >= 2 * len(keys) + 64:
        return _number_dense(_ranks(keys))
    return _number_dense(keys)


def _ranks(keys: Keys) -> Int32:
    """Replace sparse keys by their ranks among the distinct ones."""
    distinct = np.sort(keys)  # np.unique needs several times the memory
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(distinct[1:], distinct[:-1], out=new[1:])
    distinct = distinct[new]
    ranks = np.empty(len(keys), dtype=np.int32)
    for at in range(0, len(keys), _CHUNK):
        part = keys[at : at + _CHUNK]
        order = np.argsort(part)  # ascending look-ups make good use of the processor's cache
        ranks[at + order] = np.searchsorted(distinct, part[order])
    return ranks


def _number_dense(keys: Keys | Int32) -> tuple[Int32, Int32]:
    absent = len(keys)
    table = np.full(int(keys.max()) + 1, absent, dtype=np.int32)
    for at in reversed(range(0, len(keys), _CHUNK)):
        part = keys[at : at + _CHUNK]
        # of several assignments to one index the last wins: in reverse, the first occurrence
        table[part[::-1]] = np.arange(at, at + len(part), dtype=np.int32)[::-1]
    first = np.sort(table[table < absent])
    table[keys[first]] = np.arange(len(first), dtype=np.int32)
    ids = np.empty(len(keys), dtype=np.int32)
    for at in range(0, len(keys), _CHUNK):
        ids[at : at + _CHUNK] = table[keys[at : at + _CHUNK]]
    return ids, first


def predecessors(ids: Int32, first: Int32, offsets: Int64) -> Int32:
    """Return the number before each number's first occurrence, -1 if that starts a row."""
    if not len(first):
        return np.zeros(0, dtype=np.int32)
    above = ids[np.maximum(first - 1, 0)]
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    heads = ids[starts]
    above[heads[first[heads] == starts]] = -1
    return above


def name_prefixes(ids: Int32, first: Int32, offsets: Int64) -> bool:
    """Return whether each number has the same predecessor wherever it occurs.

    If so, by induction from the start of a row, each number identifies a whole prefix.
    """
    above = predecessors(ids, first, offsets)
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    if not (above[ids[starts]] == -1).all():
        return False
    begins = np.zeros(len(ids), dtype=np.bool_)
    begins[starts] = True
    for at in range(1, len(ids), _CHUNK):
        end = min(at + _CHUNK, len(ids))
        same = above[ids[at:end]] == ids[at - 1 : end - 1]
        if not (same | begins[at:end]).all():
            return False
    return True


def leading_runs(ids: Int32, offsets: Int64) -> Int64:
    """Return prefix keys: two are equal if their rows are equal up to and including them.

    Works level by level: a prefix's key is derived from that of the prefix one shorter and the last
    number.
    """
    names = np.empty(len(ids), dtype=np.int64)
    lengths = np.diff(offsets)
    rows = np.argsort(-lengths, kind="stable")
    width = int(ids.max(initial=0)) + 1
    before = np.zeros(len(rows), dtype=np.int64)
    used = 1  # 0 is the key of the empty prefix
    for level in range(int(lengths.max(initial=0))):
        rows = rows[: np.count_nonzero(lengths[rows] > level)]
        at = offsets[rows] + level
        distinct, inverse = np.unique(before[: len(rows)] * width + ids[at], return_inverse=True)
        before = inverse + used
        names[at] = before
        used += len(distinct)
    return names
