"""Which policies the contract suites run on: all that are registered, and any that are named.

MILEPOST_POLICIES="mine:LruK:k=3 mine:Other" adds classes of one's own; their kinds are found out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from policies.registry import KINDS, canonical, find

OWN = os.environ.get("MILEPOST_POLICIES", "").split()


def names(kind: str) -> list[str]:
    """Return what can be created of a kind."""
    return [*sorted(KINDS[kind].classes), *own(kind)]


def own(kind: str, specs: Sequence[str] = OWN) -> list[str]:
    """Return those of `specs` that are of a kind, each in its one spelling."""
    chosen = [spec for spec in specs if kind in {info.kind for info in find(spec)}]
    return [canonical(kind, spec) for spec in chosen]
