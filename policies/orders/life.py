"""The record of a state in its group."""

from __future__ import annotations

from collections import deque

from simulator.plugins.entries import Checkpoint


class Life:
    """A state with its uses, its kind, and its place in a group of states.

    Parameters
    ----------
    entry
        The state.
    kind
        Its kind, by which the index is learned.
    last
        The request that used it last.
    """

    __slots__ = (
        "entry",
        "kind",
        "last",
        "places",
        "steps",
        "time",
        "uses",
        "waits",
    )

    steps: int  # its group, among those of the kind
    places: deque[Place]  # of the group

    def __init__(self, entry: Checkpoint, kind: int, last: int) -> None:
        self.entry = entry
        self.kind = kind
        self.last = last
        self.uses = 0
        self.time = 0  # when it was given its place in the group, 0 where it has none
        self.waits = True  # for a place


Place = tuple[int, int, Life]  # last use, time at which it was given, state
