"""Where later prompts first leave an earlier one, in the coordinate in which that is sharpest.

An earlier prompt has added the tokens `(start, stop]` to what was known: its *segment*. When a
later prompt first diverges inside it, at `depth`, the distance can be counted in three ways:

    end      stop - depth      a question of some length stands behind a document
    branch   depth - start     a message of some length stands behind a known branch point
    start    depth             a preamble of some length stands before everything

For each coordinate the best single position for a new segment follows from the recent distances:
behind all of them lies the whole saving, before all of them nothing, and with F the empirical law

    end:     the delta that maximises (stop - delta - start) F(delta)
    others:  the x that maximises (x - start) P(distance >= x)

which is the exact staircase of one step. Before much was seen the law of the distance from the
end is shrunk towards a guess: one more divergence counts as seen, `PRIOR_TOKENS` before the end,
since what stands behind a shared document is mostly shorter.

Which coordinate is sharpest is not guessed: before a divergence is learned, every coordinate says
where it would have placed, and earns what that would have saved. So each is judged on what it had
not seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COORDINATES = ("end", "branch", "start")  # of equal scores the first wins
LEAST = 8  # divergences before another coordinate than the first is believed
FADE = 0.98  # of scores, whenever a divergence is scored
PRIOR_TOKENS = 256
STEADY = 32  # up to so many divergences each one is scored and makes a new law,
SCORE = 4  # then every so many of them are scored,
REPLAN = 8  # and every so many make a new law


class DivergenceLaw:
    """Learn where segments are first left, and say where one checkpoint saves most.

    Parameters
    ----------
    window
        Divergences to remember.
    """

    def __init__(self, window: int = 100) -> None:
        self._seen = np.zeros((3, window))  # start, stop, depth; a ring
        self._rising = np.arange(1.0, window + 2)
        self._count = 0
        self._scores = dict.fromkeys(COORDINATES, 0.0)
        self._laws: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

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
        self._seen[:, self._count % self._seen.shape[1]] = start, stop, depth
        self._count += 1
        if self._count < STEADY or self._count % REPLAN == 0:
            self._laws.clear()

    def _score(self, start: int, stop: int, depth: int) -> None:
        """Let each coordinate earn what its plan would have saved."""
        for coordinate in COORDINATES:
            position, _ = self._best(coordinate, start, stop)
            earned = position - start if start < position <= depth else 0
            self._scores[coordinate] = FADE * self._scores[coordinate] + earned

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best position within `(start, stop)`, and the share that diverges behind it.

        (0, 0.0) where there is none.
        """
        return self._best(self.coordinate, start, stop)

    def _best(self, coordinate: str, start: int, stop: int) -> tuple[int, float]:
        distances, shares = self._law(coordinate)
        if coordinate == "end":
            positions = stop - distances
        elif coordinate == "branch":
            positions = distances + start
        else:
            positions = distances
        if not len(positions):
            return 0, 0.0
        gains = (positions - start) * shares
        if coordinate != "end":
            gains[positions.searchsorted(stop) :] = 0.0  # distances beyond this prompt
        at = int(gains.argmax())
        if gains.item(at) <= 0.0:
            return 0, 0.0
        return int(positions.item(at)), shares.item(at)

    def _law(self, coordinate: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return ascending distances, and the share of divergences that a position there serves."""
        law = self._laws.get(coordinate)
        if law is None:
            count = min(self._count, self._seen.shape[1])
            start, stop, depth = self._seen[:, :count]
            if coordinate == "end":
                distances = np.append(stop - depth, PRIOR_TOKENS)
                law = np.sort(distances), self._rising[: count + 1] / (count + 1)
            else:
                distances = depth - start if coordinate == "branch" else depth
                law = np.sort(distances), self._rising[:count][::-1] / (count + 1)
            self._laws[coordinate] = law
        return law
