"""Random streams, one for each purpose, so that a change to one draw leaves the others alone."""

from __future__ import annotations

import numpy as np

from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator of one purpose ("arrivals", "sizes", ...) under a seed.

    Raises
    ------
    UsageError
        Where the seed is not within 0 to 2**63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed: expected an integer from 0 to 2**63 - 1, found {seed!r}")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode())))
