"""A step of a replica: the chunks that run together.

These are plain classes with slots, since one of each is created per request and creating a
dataclass is slower.
"""

from __future__ import annotations

from simulator.cache.request import Running


class Chunk:
    """The tokens `(start, stop]` of a request that are computed in one step.

    Positions after the prompt are tokens of the answer, if the trace has it; decoding one token is
    a chunk of one token.
    """

    __slots__ = ("running", "start", "stop")

    def __init__(self, running: Running, start: int, stop: int) -> None:
        self.running = running
        self.start = start
        self.stop = stop


class Step:
    """Chunks of different requests that run together; a request ends with its last token."""

    __slots__ = ("chunks",)

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks


# Seconds that a step spends on loading states, computing, and storing states.
StepSeconds = tuple[float, float, float]
