"""Flat streams written as letters, for hand-worked tests."""

from __future__ import annotations

from policies.objects import ObjectStream, replay
from policies.objects.libcachesim import spelled_out
from policies.registry import create


def hits(policy: str, requests: str, capacity: int, **sizes: int) -> str:
    """Return a digit a request, 1 for a hit. Objects are letters, of size 1 unless given."""
    letters = requests.replace(" ", "")
    stream = ObjectStream.of(list(letters), [sizes.get(letter, 1) for letter in letters])
    flags = (
        replay(stream, create("eviction", spelled_out(policy)), capacity).hit.astype(int).tolist()
    )
    return "".join(map(str, flags))
