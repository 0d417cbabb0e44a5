"""A log of how long points have waited for their next use."""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

BINS: Final = 20  # bin 0 is age 0, bin k holds ages from 2^(k-1) up to 2^k requests
_NEVER: Final = 1 << 60
_REMEMBERED: Final = 1 << 15  # waits that are counted, the latest ones


class Waits:
    """The latest waits of points for their next use, by kind; those not yet over are included.

    So nothing has to be tried out, and what is not cached teaches as much as what is.
    """

    def __init__(self) -> None:
        self._kinds = array("i")
        self._begun = array("q")
        self._ended = array("q")
        self._forgotten = 0

    def begin(self, kind: int, now: int) -> int:
        """Note that a point begins to wait at request `now`; return the number of the wait."""
        self._kinds.append(kind)
        self._begun.append(now)
        self._ended.append(_NEVER)
        return self._forgotten + len(self._kinds) - 1

    def end(self, wait: int, now: int) -> None:
        """Note that a wait has ended in a use at request `now`."""
        at = wait - self._forgotten
        if at >= 0:
            self._ended[at] = now

    def counts(self, kinds: int, now: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Count uses and waits by kind and age.

        Returns
        -------
        used, came : float64, shape (kinds, BINS)
            Waits that ended in a use at an age in the bin, and waits that came to it; those that
            are in it now have seen half of it.
        """
        if len(self._kinds) > 2 * _REMEMBERED:
            self._forget(len(self._kinds) - _REMEMBERED)
        kind, begun, ended = (
            np.array(column) for column in (self._kinds, self._begun, self._ended)
        )
        age_bin = np.minimum(np.frexp(np.minimum(ended, now) - begun)[1], BINS - 1)
        over = ended < _NEVER
        cell = (over * kinds + kind) * BINS + age_bin
        cells = np.bincount(cell, minlength=2 * kinds * BINS).reshape(2, kinds, BINS)
        waiting, used = cells.astype(np.float64)
        came = np.cumsum((used + waiting)[:, ::-1], axis=1)[:, ::-1] - waiting / 2
        return used, came

    def _forget(self, count: int) -> None:
        for column in (self._kinds, self._begun, self._ended):
            del column[:count]
        self._forgotten += count
