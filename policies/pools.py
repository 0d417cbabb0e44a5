"""Strings that name an eviction policy for each pool: `kv=lru,states=value:step=2`.

The parameters of a policy contain commas and equal signs too, so its string ends where the name
of another pool begins.
"""

from __future__ import annotations

import re

from simulator.base.errors import UsageError, printable

POOLS = ("kv", "states")  # those of a split cache
EXAMPLE = "kv=lru,states=value"
_POOL = re.compile(rf"(?:^|,)\s*({'|'.join(POOLS)})\s*=")


def names_pools(spec: str) -> bool:
    """Say whether a policy string names a policy for each pool."""
    return _POOL.match(spec.strip()) is not None


def by_pool(spec: str) -> dict[str, str] | None:
    """Return the policy string of each pool; None where one policy is for all.

    Raises
    ------
    UsageError
        Where a pool is missing, or is named twice.
    """
    if not names_pools(spec):
        return None
    _, *pieces = _POOL.split(spec.strip())
    names, policies = pieces[::2], map(str.strip, pieces[1::2])
    if sorted(names) != sorted(POOLS):
        raise UsageError(
            f"eviction '{printable(spec)}': expected a policy for each of the pools "
            f"{' and '.join(POOLS)}, as in {EXAMPLE}"
        )
    named = dict(zip(names, policies, strict=True))
    return {pool: named[pool] for pool in POOLS}
