"""Routers, which assign requests to replicas."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.serving.interfaces import ReplicaView


class RoundRobin:
    """A router that assigns requests to the replicas in turn."""

    def __init__(self) -> None:
        self._next = 0

    def choose(self, request: int, replicas: Sequence[ReplicaView]) -> int:
        """Return the index of the next replica."""
        del request
        chosen = self._next
        self._next = (chosen + 1) % len(replicas)
        return chosen
