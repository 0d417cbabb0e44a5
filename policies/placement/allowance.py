"""A hard limit on the checkpoints of all requests together."""

from __future__ import annotations

from typing import Final

AHEAD: Final = 8  # requests whose allowance the first ones may use
RESERVE: Final = 32.0  # requests whose allowance is kept back for those that want more
SPREAD: Final = 100.0  # requests over which more or less than that is made up for


class Allowance:
    """Checkpoints that may still be written, so that they are `rate` a request at most.

    After n requests, finished or begun, at most `rate * (n + 8)` or `rate * n + 1` checkpoints,
    whichever is more, have been written or promised.

    Parameters
    ----------
    rate
        New checkpoints a request, at most.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left = max(1.0, AHEAD * rate)
        self._promised: dict[int, tuple[int, int]] = {}  # by request: promised, and withheld

    def ask(self, request: int, wanted: int) -> int:
        """Return how many of the wanted checkpoints a request may write; they are promised to it.

        A request that asks again, for another chunk of its prompt, gives back what it was promised.
        """
        before = self._promised.get(request)
        self._left += self._rate if before is None else before[0]
        allowed = min(wanted, int(self._left))
        self._left -= allowed
        self._promised[request] = allowed, wanted - allowed
        return allowed

    def settle(self, request: int, written: int) -> float:
        """Take back what a request that ended has not written; return its excess.

        That is how many more checkpoints it wanted, written or not, than may be wanted on average
        while what is left should come to, or stay at, RESERVE requests' allowance.
        """
        promised, withheld = self._promised.pop(request, (0, 0))
        self._left += promised - written
        spare = (self._left - RESERVE * self._rate) / SPREAD
        return written + withheld - self._rate - max(spare, -0.5 * self._rate)
