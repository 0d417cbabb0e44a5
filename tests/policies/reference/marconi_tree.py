"""The Marconi artifact with leaf LRU, as rules on a radix tree of tokens.

Written from what the reference says of its faults and from its figures, which it meets request by
request; none of the artifact's code is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.policies.reference.marconi_trace import KV_BYTES, STATE_BYTES


@dataclass(eq=False)
class Edge:
    """Tokens behind those of the parent, perhaps with a state at their end."""

    parent: Edge | None
    tokens: np.ndarray
    resident: bool = False
    state: bool = False
    last_used: int = 0
    children: dict[int, Edge] = field(default_factory=dict)

    @property
    def leaf(self):
        return not any(child.resident for child in self.children.values())

    @property
    def size_bytes(self):
        return len(self.tokens) * KV_BYTES + self.state * STATE_BYTES


class MarconiTree:
    """Evicts the least recent leaf with its state until a request fits; its path stays.

    A request leaves a state at its end, and one where it parts from an edge that is resident.

    Parameters
    ----------
    capacity_bytes
        The capacity.
    used
        What a prompt uses of the last edge that it meets, where it shares only a part of it:
        nothing ("whole": edges count as a whole), all of it ("part"), or all of it and whatever
        it then meets below, as if that edge had been shared ("below"). The last is the artifact.
    cuts_stay
        An edge that was cut comes back in pieces after it has gone, and an answer is an edge of
        its own. In the artifact what is gone is forgotten.
    """

    def __init__(self, capacity_bytes, used="below", cuts_stay=False):
        self.capacity_bytes, self.used, self.cuts_stay = capacity_bytes, used, cuts_stay
        self.root = Edge(None, np.zeros(0, dtype=np.int64), resident=True, state=True)
        self.leaves = set()
        self.used_bytes = self.clock = self.states = 0

    def saves(self, prompt_tokens, tokens):
        """Serve a request; return how many tokens of its prompt it reuses."""
        saved = self.match(tokens[:prompt_tokens])
        if self.cuts_stay:
            self.path(tokens[:prompt_tokens])
        path = self.path(tokens)
        held = [edge for edge in path if edge.resident]
        ends = [edge for edge in dict.fromkeys((*held[-1:], path[-1])) if not edge.state]
        size_bytes = len(ends) * STATE_BYTES
        size_bytes += sum(edge.size_bytes for edge in path[len(held) :])
        self.make_room(size_bytes, held)
        self.used_bytes += size_bytes
        self.states += len(ends)
        self.use(path)
        for edge in ends:
            edge.state = True
        for edge in path:
            edge.resident = True
        self.leaves.difference_update(path[:-1])
        if path[-1].leaf:
            self.leaves.add(path[-1])
        return saved

    def match(self, tokens):
        """Note what a prompt uses; return the tokens of its whole edges down to the last state."""
        edge, met, matched, whole_tokens, saved = self.root, [], 0, 0, 0
        while matched < len(tokens):
            edge = edge.children.get(int(tokens[matched]))
            if edge is None or not edge.resident:
                break
            shared = shared_tokens(edge.tokens, tokens[matched:])
            matched += shared
            whole = shared == len(edge.tokens)
            if whole or self.used != "whole":
                met.append(edge)
            whole_tokens += whole * shared
            if whole and edge.state:
                saved = whole_tokens
            if not whole and self.used != "below":
                break
        self.use(met)
        return saved

    def use(self, edges):
        """Make edges the most recent, the deepest most."""
        for edge in edges:
            self.clock += 1
            edge.last_used = self.clock

    def path(self, tokens):
        """Return the edges that make up `tokens`, making and cutting them where need be."""
        edges, edge, start = [], self.root, 0
        while start < len(tokens):
            below = edge.children.get(int(tokens[start]))
            if below is None:
                below = edge.children[int(tokens[start])] = Edge(edge, tokens[start:])
            shared = shared_tokens(below.tokens, tokens[start:])
            edge = below if shared == len(below.tokens) else cut(below, shared)
            edges.append(edge)
            start += shared
        return edges

    def make_room(self, size_bytes, kept):
        """Evict leaves until `size_bytes` fit."""
        while self.used_bytes + size_bytes > self.capacity_bytes:
            victim = min(self.leaves.difference(kept), key=lambda edge: edge.last_used)
            self.leaves.remove(victim)
            self.used_bytes -= victim.size_bytes
            self.states -= victim.state
            victim.resident = victim.state = False
            if not self.cuts_stay:
                del victim.parent.children[int(victim.tokens[0])]
            if victim.parent is not self.root and victim.parent.leaf:
                self.leaves.add(victim.parent)


def cut(lower, tokens):
    """Cut an edge behind its first `tokens`; return the upper part, which is as recent."""
    first, rest = lower.tokens[:tokens], lower.tokens[tokens:]
    upper = Edge(lower.parent, first, lower.resident, last_used=lower.last_used)
    upper.parent.children[int(first[0])] = upper
    upper.children[int(rest[0])] = lower
    lower.parent, lower.tokens = upper, rest
    return upper


def shared_tokens(these, those):
    """Return how many first tokens two runs share."""
    length = min(len(these), len(those))
    differ = np.flatnonzero(these[:length] != those[:length])
    return int(differ[0]) if len(differ) else length
