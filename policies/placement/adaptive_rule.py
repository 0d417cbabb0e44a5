"""The learning and the choice of the placer `adaptive`, apart from it so as to be compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.placement.allowance import Allowance
from policies.placement.chain import best_few, best_set
from policies.placement.expected_uses import ExpectedUses
from policies.placement.places import Point
from policies.placement.price import Price
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix
from simulator.trace.grid import Grid

ENDLESS: Final = 2**62


class AdaptiveRule:
    """Chooses the points whose expected uses are worth their price, within the allowance.

    Parameters
    ----------
    rate
        New checkpoints a request, at most.
    """

    def __init__(self, rate: float) -> None:
        self._uses = ExpectedUses()
        self._price = Price(rate)
        self._allowance = Allowance(rate)
        self._reach = ENDLESS
        self._grid = Grid()

    def begin(self, context: CacheContext) -> None:
        """Read costs, sizes and the grid of checkpoint positions."""
        self._grid = context.grid
        self._price.begin(context)
        self._reach = reach_tokens(context)
        self._uses.begin(context.grid, self._reach)

    def coordinate(self, label: int = -1) -> str:
        """Return the coordinate in which positions have saved most for prompts of a label."""
        return self._uses.law(label).coordinate

    def observe(self, overlap: Overlap) -> None:
        """Count how the request overlapped earlier ones, and the tokens that it added."""
        self._price.observe(overlap, self._allowance.settle(overlap.request, overlap.written))
        self._uses.observe(overlap)

    def place(self, prefix: Prefix) -> Sequence[int]:
        """Return the candidates that are worth their price."""
        price = self._price.tokens
        points = self._uses.points(prefix, prefix.resume, price)
        oversized = prefix.prompt_tokens > self._reach or prefix.end_tokens > self._reach
        if oversized:
            points = [(min(position, self._reach), uses) for position, uses in points]
        wanted, gains, survival = self._worth(points, prefix.resume, price)
        chosen = [*range(len(wanted))]
        if oversized and wanted:
            chosen = [max(chosen, key=lambda i: gains[i] * survival[i])]
        else:
            chosen = best_set(chosen, gains, survival, price)
        allowed = self._allowance.ask(prefix.request, len(chosen))
        if allowed < len(chosen):
            chosen = best_few(gains, survival, chosen, allowed)
        return [wanted[i] for i in chosen]

    def expected(self, prefix: Prefix) -> list[Point]:
        """Return all points to which prompts may return, the deepest first, and their uses.

        Unlike those of `place` they need not lie behind the resume point.
        """
        return self._uses.points(prefix, 0, 0.0)

    def _worth(
        self, points: list[Point], resume: int, price: float
    ) -> tuple[list[int], list[float], list[float]]:
        """Return the points that alone are worth their price, with the two factors of their worth.

        These are the tokens behind `resume` that a use of it saves, and its expected uses.
        """
        granularity, alignment = self._grid.granularity, self._grid.alignment
        wanted: list[int] = []
        gains: list[float] = []
        survival: list[float] = []
        total, last = 0.0, 0
        for position, uses in points:
            gain = position - position % granularity  # `Grid.floor`, without a call
            gain -= gain % alignment + resume
            if gain <= 0:
                break
            total += uses
            if gain * total <= price or not uses:
                continue
            if gain == last:  # one position of the grid serves both
                wanted[-1], survival[-1] = position, total
                continue
            last = gain
            wanted.append(position)
            gains.append(float(gain))
            survival.append(total)
        return wanted, gains, survival


def reach_tokens(context: CacheContext) -> int:
    """Return the deepest position whose state the cache can hold beside the KV before it.

    A prompt that reaches beyond is given one state at most: a second would take its bytes from
    the KV before the first.
    """
    sizes = context.sizes
    if context.capacity_bytes is None or not sizes.kv_bytes_per_token:
        return ENDLESS
    return max(0, context.capacity_bytes - sizes.state_bytes) // sizes.kv_bytes_per_token
