"""The law of where later prompts first diverge from an earlier one, in the best coordinate.

An earlier prompt has added the tokens `(start, stop]`, its *segment*, to the known prompts. When
a later prompt first diverges inside it, at `depth`, the distance can be counted in three ways:

    end      stop - depth      a question of some length stands behind a document
    branch   depth - start     a message of some length stands behind a known branch point
    start    depth             a preamble of some length stands before everything

For each coordinate the best single position for a new segment follows from the recent distances
(single.py). The law of the distance from the end has a prior: one more divergence is counted,
`PRIOR_TOKENS` before the end, since what follows a shared document is mostly shorter.

The coordinate is chosen by past savings: before a divergence is learned, each coordinate is scored
by what its position would have saved. So each is judged on divergences that it had not seen.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from policies.estimation.single import EndDistances, FromBranch, FromStart, SingleLaw

COORDINATES: Final = ("end", "branch", "start")  # of equal scores the first wins
LEAST: Final = 8  # divergences before another coordinate than the first may be chosen
FADE: Final = 0.98  # decay of the scores with each scored divergence
PRIOR_TOKENS: Final = 256
STEADY: Final = 32  # up to so many divergences each one is scored and makes a new law,
SCORE: Final = 4  # then every so many of them are scored,
REPLAN: Final = 8  # and every so many make a new law


class DivergenceLaw:
    """Learns where segments are first left, and finds where one checkpoint saves most.

    Parameters
    ----------
    window
        Divergences to remember.
    """

    def __init__(self, window: int = 100) -> None:
        self._seen: deque[tuple[int, int, int]] = deque(maxlen=window)  # start, stop, depth
        self._count = 0
        self._scores = dict.fromkeys(COORDINATES, 0.0)
        self._laws: dict[str, SingleLaw] = {}
        self._best: SingleLaw | None = None

    def __len__(self) -> int:
        """Return how many divergences were seen so far."""
        return self._count

    @property
    def coordinate(self) -> str:
        """The coordinate in which plans have saved most so far; at first, the end."""
        if self._count < LEAST:
            return COORDINATES[0]
        return max(COORDINATES, key=self._scores.__getitem__)

    def observe(self, start: int, stop: int, depth: int) -> None:
        """Take one more divergence, at `depth`, of the segment `(start, stop]`."""
        if self._count < STEADY or self._count % SCORE == 0:
            self._score(start, stop, depth)
        self._seen.append((start, stop, depth))
        self._count += 1
        self._best = None
        if self._count < STEADY or self._count % REPLAN == 0:
            self._laws.clear()

    def _score(self, start: int, stop: int, depth: int) -> None:
        """Add to the score of each coordinate what its position would have saved."""
        for coordinate in COORDINATES:
            position, _ = self._law(coordinate).best(start, stop)
            earned = position - start if start < position <= depth else 0
            self._scores[coordinate] = FADE * self._scores[coordinate] + earned

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best position within `(start, stop)`, and the share that diverges behind it.

        (0, 0.0) where there is none.
        """
        law = self._best
        if law is None:
            law = self._best = self._law(self.coordinate)
        return law.best(start, stop)

    def _law(self, coordinate: str) -> SingleLaw:
        law = self._laws.get(coordinate)
        if law is None:
            law = self._laws[coordinate] = self._learned(coordinate)
        return law

    def _learned(self, coordinate: str) -> SingleLaw:
        seen, total = self._seen, len(self._seen) + 1
        if coordinate == "end":
            return EndDistances([PRIOR_TOKENS, *(stop - depth for _, stop, depth in seen)])
        if coordinate == "branch":
            return FromBranch([depth - start for start, _, depth in seen], total)
        return FromStart([depth for _, _, depth in seen], total)
