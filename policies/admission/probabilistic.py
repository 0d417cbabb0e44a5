"""Admission at random."""

from __future__ import annotations

import math

from policies.admission.base import BaseAdmission, identity
from policies.parameters import require, require_at_least
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class Probabilistic(BaseAdmission):
    """Admit each entry with a fixed probability, or with one that falls with its size.

    The random number belongs to the entry: it is the same whenever the entry comes, in every run
    with this seed, whatever the other policies do. So the entries admitted with a small
    probability are among those admitted with a larger one.

    Parameters
    ----------
    probability
        Probability of admission; with `scale`, for an entry of 0 bytes.
    scale
        Where given, the probability falls by a factor of e for every so many bytes.
    seed
        Seed of the random numbers.

    Source: D. S. Berger, R. K. Sitaraman and M. Harchol-Balter, "AdaptSize: orchestrating the hot
    object memory cache in a content delivery network", NSDI 2017 (exp(-size/c), here fixed).

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve([*"abcdefgh"], admission="probabilistic").kv
    ['c', 'd', 'g', 'h']
    >>> serve([*"abcdefgh"], admission="probabilistic:probability=0.2").kv
    ['g']
    """

    def __init__(self, probability: float = 0.5, scale: int | None = None, seed: int = 0) -> None:
        require(0 <= probability <= 1, "probability", "0 to 1", probability)
        if scale is not None:
            require_at_least("scale", scale, 1)
        require_at_least("seed", seed, 0)
        self._probability = probability
        self._scale = scale
        self._seed = seed

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether the random number of the entry is below its probability."""
        del departures
        probability = self._probability
        if self._scale is not None:
            probability *= math.exp(-size_bytes / self._scale)
        return toss(identity(candidate), self._seed) < probability


def toss(name: int, seed: int) -> float:
    """Return a number in [0, 1) that is fixed for a name of 64 bits and a seed."""
    from hashlib import blake2b

    digest = blake2b(name.to_bytes(8, "little"), digest_size=8, salt=seed.to_bytes(16, "little"))
    return (int.from_bytes(digest.digest(), "little") >> 11) / 2.0**53
