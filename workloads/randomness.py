"""Independent random streams by purpose, so that a change to one draw does not affect others."""

from __future__ import annotations

import numpy as np

from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the random generator of one purpose ("arrivals", "sizes", ...) for a seed.

    Raises
    ------
    UsageError
        For a seed that is no integer from 0 to 2**63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed: expected an integer from 0 to 2**63 - 1, found {seed!r}")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode())))
