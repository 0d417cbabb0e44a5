"""A step of a replica: what runs together, and what it takes.

Plain classes with slots rather than dataclasses: one of each is made for every request.
"""

from __future__ import annotations

from simulator.cache.request import Running


class Chunk:
    """The tokens `(start, stop]` of a request that are computed in one step.

    Behind the prompt come the tokens of the answer, where the trace tells them: to decode one of
    them is a chunk of one token.
    """

    __slots__ = ("running", "start", "stop")

    def __init__(self, running: Running, start: int, stop: int) -> None:
        self.running = running
        self.start = start
        self.stop = stop


class Step:
    """What runs together: chunks of different requests. One whose last token is in it ends."""

    __slots__ = ("chunks",)

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks


# What a step takes: copying states into place, computing, and copying states out.
StepSeconds = tuple[float, float, float]
