"""Placement by expected uses: the checkpoints whose expected saving exceeds their price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from policies.parameters import require
from policies.placement.adaptive_rule import AdaptiveRule
from policies.placement.base import BasePlacer
from policies.placement.retention import best_for
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window


class Adaptive(BasePlacer):
    """Store the checkpoints whose expected saving exceeds their price, as learned from overlaps.

    Candidates are the points where earlier prompts diverged or ended, the ends of the prompt and
    of its answer, the token before the end of the prompt where prompts are repeated, and the one
    point in the prompt, and in its answer, where a second prompt is most likely to diverge, by
    the learned law of such divergences. How often each kind of point is used again is counted for
    every request and label, whether or not a state was there, so that nothing has to be tried
    out; a use that the cache could not have served, since its KV was evicted, does not count.
    From the expected uses the set with the greatest saving less its price is computed exactly.

    Parameters
    ----------
    rate
        New checkpoints a request, at most; above 0. After n requests no more than rate times
        n + 8 have been written, or one more than rate times n, whichever is more.

    Source: this project; docs/placement.md, section 8, has its measurements.

    Examples
    --------
    Three questions about each of twelve documents: what is stored for the first document, and
    for the last, when it is known that the questions follow token 1000:

    >>> from policies.tryout import serve
    >>> prompts = [1000 * document + 20 * q for document in "abcdefghijkl" for q in "xyz"]
    >>> written = serve(prompts, placer="adaptive").written
    >>> written[:3], written[-3:]
    ([[764, 1020], [1000, 1020], [1020]], [[1000, 1020], [], []])

    A chat, of which it has learned from others that it goes on behind its answers:

    >>> chats = [chat * n for chat in "abcdefghij" for n in (100, 400, 700)]
    >>> serve(chats, placer="adaptive", answers=[chat[0] * 200 for chat in chats]).written[-3:]
    [[300], [600], [900]]
    """

    observes: ClassVar[bool] = True

    def __init__(self, rate: float = 1.1) -> None:
        require(0 < rate <= 1e6, "rate", "above 0 and at most 1000000", rate)
        self._rule = AdaptiveRule(rate)

    def begin(self, context: CacheContext) -> None:
        """Read costs, sizes and the grid of checkpoint positions."""
        self._rule.begin(context)

    def coordinate(self, label: int = -1) -> str:
        """Return the coordinate in which positions have saved most for prompts of a label."""
        return self._rule.coordinate(label)

    def observe(self, overlap: Overlap) -> None:
        """Count how the request overlapped earlier ones, and the tokens that it added."""
        self._rule.observe(overlap)

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the candidates that are worth their price."""
        return self._rule.place(prefix)

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Keep the states, old or new, that save most by the uses to expect of each point."""
        uses: dict[int, float] = {}
        for position, expected in reversed(self._rule.expected(prefix)):
            uses[position] = uses.get(position, 0.0) + expected
        depths = sorted(uses)
        return best_for(depths, [uses[depth] for depth in depths], states, wanted, most)
