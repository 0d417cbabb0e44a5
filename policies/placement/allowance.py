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
        self._aim = rate - RESERVE * rate / SPREAD
        self._left = max(1.0, AHEAD * rate)
        self._promised: dict[int, int] = {}  # by request
        self._withheld: dict[int, int] = {}

    def ask(self, request: int, wanted: int) -> int:
        """Return how many of the wanted checkpoints a request may write; they are promised to it.

        A request that asks again, for another chunk of its prompt, gives back what it was promised.
        """
        left = self._left + self._promised.get(request, self._rate)
        allowed = wanted
        if wanted > left:
            allowed = int(left)
            self._withheld[request] = wanted - allowed
        elif self._withheld:
            self._withheld.pop(request, None)
        self._promised[request] = allowed
        self._left = left - allowed
        return allowed

    def settle(self, request: int, written: int) -> float:
        """Take back what a request that ended has not written; return its excess.

        That is how many more checkpoints it wanted, written or not, than may be wanted on average
        while what is left should come to, or stay at, RESERVE requests' allowance.
        """
        left = self._left = self._left + self._promised.pop(request, 0) - written
        if self._withheld:
            written += self._withheld.pop(request, 0)
        aim = self._aim + left / SPREAD
        least = 0.5 * self._rate
        return written - (aim if aim > least else least)
