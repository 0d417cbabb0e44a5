"""Rates at which prompts return to points, by kind and age, learned from how long others waited."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.worth.index import indices
from policies.worth.kinds import GROUPS, KINDS, LAST_TOKEN, PLACES, RELATED, STAGES, WITHIN
from policies.worth.waits import BINS, Waits

PRIOR: Final = 12.0  # waits of a kind's own that weigh as much as those of the kinds related to it
FIRST_CHANCE: Final = 0.03  # of a use in a bin of ages, before anything is known
MOST_CHANCE: Final = 0.999
ALIKE: Final = 1.1  # a rate is held while it changes by no more than this factor
NEVER: Final = 1 << 60
LEAST_STEP, MOST_STEP, STEPS = 32, 1024, 6  # requests between computations; else a sixth of all

_OLDER = 44  # further bins of ages, in which nothing changes

_Table = NDArray[np.float64]


class Rates:
    """The uses a request, and the uses in all, to expect of points of each kind.

    Attributes
    ----------
    waits
        The waits from which they are learned.
    rate
        By kind and bit length of the age: uses a request (an index, see index.py).
    until
        By kind and bit length of the age: the age until which the rate stays the same.
    uses
        By kind: the uses to expect from the begin of a wait on.
    learned
        How often they were computed.
    """

    def __init__(self) -> None:
        self.waits = Waits()
        self.rate: list[list[float]] = []
        self.until: list[list[int]] = []
        self.uses: list[float] = []
        self.learned = 0
        self._due = 0

    def refresh(self, now: int) -> None:
        """Compute the rates anew where enough requests have come since the last time."""
        if now < self._due:
            return
        self.learned += 1
        self._due = now + max(LEAST_STEP, min(MOST_STEP, now // STEPS))
        chances, labels = self._chances(now)
        again = np.ones(PLACES, bool)
        again[WITHIN:LAST_TOKEN] = False  # after the first divergence it is a branch
        index, uses = indices(chances.reshape(-1, STAGES, BINS), np.tile(again, len(labels)))
        index = _held(index.reshape(len(labels), KINDS, BINS))
        lasting = _lasting(index)
        rate = [[ages + ages[-1:] * _OLDER for ages in kinds] for kinds in index.tolist()]
        until = [[ages + [NEVER] * _OLDER for ages in kinds] for kinds in lasting.tolist()]
        total = uses.reshape(len(labels), KINDS).tolist()
        where = {label: row for row, label in enumerate(labels)}
        rows = [where.get(label, 0) for label in range(GROUPS)]
        self.rate = [ages for row in rows for ages in rate[row]]
        self.until = [ages for row in rows for ages in until[row]]
        self.uses = [of_kind for row in rows for of_kind in total[row]]

    def _chances(self, now: int) -> tuple[_Table, list[int]]:
        """Return the chance of a use in each bin of ages, for all labels and for those seen.

        Few waits of a label are drawn towards those of all labels, few of these towards those of
        related places.
        """
        shape = (GROUPS, PLACES, STAGES, BINS)
        used, came = (counts.reshape(shape) for counts in self.waits.counts(GROUPS * KINDS, now))
        seen = [0, *(np.flatnonzero(came[1:].any(axis=(1, 2, 3))) + 1).tolist()]
        used[0], came[0] = used.sum(axis=0), came.sum(axis=0)
        related = np.empty(shape[1:])
        for first, after in RELATED:
            uses, waits = used[0, first:after].sum(axis=0), came[0, first:after].sum(axis=0)
            related[first:after] = _drawn(uses, waits, FIRST_CHANCE)
        chances = np.empty((len(seen), *shape[1:]))
        chances[0] = _drawn(used[0], came[0], related)
        chances[1:] = _drawn(used[seen[1:]], came[seen[1:]], chances[0])
        return np.minimum(chances, MOST_CHANCE), seen


def _drawn(used: _Table, came: _Table, towards: _Table | float) -> _Table:
    chances: _Table = (used + PRIOR * towards) / (came + PRIOR)
    return chances


def _held(rates: _Table) -> _Table:
    """Let each rate stay what it was for as long as it changes little."""
    held = np.moveaxis(rates, -1, 0).copy()  # by age first, which is several times faster
    for before, rate in pairwise(held):
        alike = (rate <= ALIKE * before) & (before <= ALIKE * rate)
        np.copyto(rate, before, where=alike)
    return np.moveaxis(held, 0, -1)


def _lasting(rates: _Table) -> NDArray[np.int64]:
    """Return the age up to which each rate stays the same."""
    by_age = np.moveaxis(rates, -1, 0)
    lasting = np.full(by_age.shape, NEVER)
    differs = by_age[1:] != by_age[:-1]
    for age_bin in reversed(range(BINS - 1)):
        lasting[age_bin] = lasting[age_bin + 1]
        lasting[age_bin][differs[age_bin]] = 1 << age_bin
    return np.moveaxis(lasting, 0, -1)
