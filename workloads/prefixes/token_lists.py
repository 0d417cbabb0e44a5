"""Token lists as a prefix tree, exact to the token.

The tree grows with each list and stores each distinct run of tokens once, so that memory depends on
the distinct tokens only (a radix tree: Morrison, "PATRICIA", J. ACM 15, 1968, over tokens in place
of bits).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT, PrefixTree
from workloads.prefixes.prompt_tree import numbered

Tokens = NDArray[np.int32]

_SIZE = 4  # bytes per token
_FIRST_STEP = 256  # tokens compared in the first step


def common_prefix(one: Tokens, other: Tokens) -> int:
    """Return the number of tokens in the common prefix of two lists."""
    length = min(len(one), len(other))
    at, step = 0, _FIRST_STEP
    while at < length:  # steps grow, so that a short common prefix of long lists costs little
        end = min(at + step, length)
        differs = one[at:end] != other[at:end]
        first = int(differs.argmax())
        if differs[first]:
            return at + first
        at, step = end, 4 * step
    return length


class TokenTree:
    """A prefix tree of token lists while it grows.

    When a node is split it keeps its number and its end; the new node is its upper part.
    """

    def __init__(self) -> None:
        self._parent = [-1]
        self._stop = [0]
        self._runs = [b""]  # as bytes, which compare several times faster than arrays
        self._children: dict[int, int] = {}

    def add(self, tokens: Tokens, below: int = ROOT) -> int:
        """Add a list that continues at the end of node `below`; return the node where it ends."""
        data = tokens.tobytes()
        node, at = below, 0
        while at < len(tokens):
            key = _key(node, int(tokens[at]))
            child = self._children.get(key)
            if child is None:
                child = self._new(node, self._stop[node] + len(tokens) - at, data[_SIZE * at :])
                self._children[key] = child
                return child
            run = self._runs[child]
            if data.startswith(run, _SIZE * at):
                at += len(run) // _SIZE
                node = child
            else:
                shared = common_prefix(np.frombuffer(run, dtype=np.int32), tokens[at:])
                at += shared
                node = self._split(child, shared)
        return node

    def numbered(self, ends: Sequence[int]) -> tuple[PrefixTree, NDArray[np.int32]]:
        """Return the tree with nodes numbered in the order in which paths to `ends` reach them.

        Returns the new number of each node too; nodes on no such path are dropped and have -1.
        """
        return numbered(self._parent, self._stop, ends)

    def _split(self, node: int, length: int) -> int:
        """Split a node after `length` tokens; return the new node, its upper part."""
        run, above = self._runs[node], self._parent[node]
        upper_run, lower_run = run[: _SIZE * length], run[_SIZE * length :]
        upper = self._new(above, self._stop[node] - len(lower_run) // _SIZE, upper_run)
        self._children[_key(above, _first(upper_run))] = upper
        self._children[_key(upper, _first(lower_run))] = node
        self._parent[node] = upper
        self._runs[node] = lower_run
        return upper

    def _new(self, parent: int, stop: int, run: bytes) -> int:
        self._parent.append(parent)
        self._stop.append(stop)
        self._runs.append(run)
        return len(self._parent) - 1


def _key(node: int, token: int) -> int:
    """Return a number for the pair of a node and the first token below it."""
    return node << 32 | (token & 0xFFFFFFFF)


def _first(run: bytes) -> int:
    return int.from_bytes(run[:_SIZE], sys.byteorder, signed=True)
