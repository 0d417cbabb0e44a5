"""Random checkpoints, as a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Prefix, Window

MASK = 2**64 - 1


def _mix(value: int) -> int:
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def _stream(seed: int, span: KvSpan, length: int) -> Iterator[int]:
    """Yield 64-bit numbers that depend on nothing but the arguments."""
    state = _mix(seed & MASK)
    for part in (span.start, span.stop, length):
        state = _mix(state ^ part)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        yield _mix(state)


class Random(BasePlacer):
    """Store `budget` checkpoints at random positions, the same for the same prompt each time.

    Parameters
    ----------
    budget
        Checkpoints for a whole prefix, 1 or more.
    seed
        Another seed, other positions.

    Source: sampling: Floyd, in Bentley 1987, CACM 30(9); numbers: SplitMix64, Steele et al.
    2014.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("random:budget=3", prompt_tokens=100)
    [7, 27, 72]
    >>> planned("random:budget=3,seed=1", prompt_tokens=100)
    [32, 75, 96]
    """

    def __init__(self, budget: int, seed: int = 0) -> None:
        require_at_least("budget", budget, 1)
        self._budget = budget
        self._seed = seed

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the positions behind the resume point of a uniform sample of 1..L."""
        length = prefix.prompt_tokens
        numbers = _stream(self._seed, prefix.span, length)
        sample: set[int] = set()
        for last in range(max(0, length - self._budget) + 1, length + 1):
            position = next(numbers) % last + 1
            sample.add(last if position in sample else position)
        return sorted(position for position in sample if position > prefix.resume)

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Keep a random choice: each position has a random rank, and those of low rank stay."""
        base = _mix(self._seed & MASK)
        ranked = sorted({*states, *wanted}, key=lambda position: (_mix(base ^ position), position))
        return sorted(ranked[:most])
