"""Units that are sampled as a whole: sessions, or prompts that share a prefix."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import NO_SESSION, Trace

Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]

MOST_SHARE = 0.02  # of the requests; prompts under a prefix with more are divided


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Which requests of a trace are sampled together.

    Parameters
    ----------
    of
        Shape (requests,): the unit of each request.
    keys
        Shape (units,): a text that identifies each, whatever the order of the requests.
    sessions
        Number of units that are sessions; these come first.
    """

    of: Int64
    keys: tuple[str, ...]
    sessions: int

    def __len__(self) -> int:
        return len(self.keys)

    def hashes(self, seed: int) -> UInt64:
        """Return a hash of each unit, uniform over 64 bits."""
        salt = seed.to_bytes(8, "little")
        digests = (
            hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8, key=salt).digest()
            for key in self.keys
        )
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def units_of(trace: Trace, names: Mapping[int, str] | None = None) -> Units:
    """Return the units of a trace: sessions, and prefixes for requests without one.

    A session is identified by its name in `names`, or by its number. A prefix has no name, so it is
    identified by the lengths and times of its requests. A prefix of more than 2 % of the requests,
    such as a system prompt, is divided into the prefixes that continue it.
    """
    named = trace.session != NO_SESSION
    sessions, place = np.unique(trace.session[named], return_inverse=True)
    of = np.empty(len(trace), dtype=np.int64)
    of[named] = place
    names = names or {}
    keys = [f"session:{names.get(number, number)}" for number in sessions.tolist()]
    loose = np.flatnonzero(~named)
    if len(loose):
        heads, group = np.unique(_heads(trace, loose), return_inverse=True)
        of[loose] = len(keys) + group
        keys += _looks(trace, loose, group, trace.tree.stop[heads])
    return Units(of, tuple(keys), len(sessions))


def _heads(trace: Trace, requests: Int64) -> Int64:
    """Return for each request the tree node of the prefix that it is sampled with."""
    parent = trace.tree.parent.tolist()
    leaf = trace.leaf[requests]
    held = np.bincount(leaf, minlength=trace.tree.nodes).tolist()
    for node in range(len(parent) - 1, 0, -1):  # children have higher numbers than their parents
        held[parent[node]] += held[node]
    most = max(MOST_SHARE * len(requests), 1)
    head = [ROOT] * len(parent)
    for node in range(1, len(parent)):
        above = head[parent[node]]
        parted = above == ROOT or held[above] > most
        head[node] = node if parted else above
    return np.array(head, dtype=np.int64)[leaf]


def _looks(trace: Trace, requests: Int64, group: Int64, stop: Int64) -> list[str]:
    """Return a key for each prefix: a sum of hashes of its requests, made unique by a count."""
    look = _mixed(trace.prompt_tokens[requests].astype(np.uint64))
    look = _mixed(look ^ trace.output_tokens[requests].astype(np.uint64))
    if trace.arrival_seconds is not None:
        look = _mixed(look ^ trace.arrival_seconds[requests].view(np.uint64))
    sums = _mixed(stop.astype(np.uint64))
    np.add.at(sums, group, look)
    seen: dict[int, int] = {}
    keys = []
    for each in sums.tolist():
        seen[each] = seen.get(each, 0) + 1
        keys.append(f"prefix:{each}:{seen[each]}")
    return keys


def _mixed(values: UInt64) -> UInt64:
    """Return each value scrambled by the finaliser of SplitMix64 (Steele, Lea, Flood, 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: UInt64 = values ^ (values >> np.uint64(31))
    return mixed
