"""Marks of policies excluded from fair competition: bounds, and those with foresight."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policies.registry import KINDS, create, specs_of

UPPER_BOUND = "upper bound"
LOOKS_AHEAD = "looks ahead"
COLUMN = "marks"
POLICIES = ("placer", "eviction", "admission")


def marks_of(policies: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks of a placer, an eviction and an admission policy, by kind.

    The policies themselves are asked, whatever they are called; who derives from a class that
    looks ahead is marked as well.

    Raises
    ------
    UsageError
        Where one of them cannot be created.
    """
    made = [_flags(kind, spec) for kind in POLICIES for spec in specs_of(kind, policies[kind])]
    bound, ahead = (any(flags) for flags in zip(*made, strict=True))
    return (UPPER_BOUND,) * bound + (LOOKS_AHEAD,) * ahead


def marks_in(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the marks that a stored row of a result carries.

    Rows that an earlier version wrote carry none: those of registered names are known.
    """
    stored = row.get(COLUMN)
    if stored is not None:
        return tuple(filter(None, str(stored).split(", ")))
    names = {kind: str(row.get(kind)).partition(":")[0] for kind in POLICIES}
    known = {kind: name for kind, name in names.items() if name in KINDS[kind].classes}
    classes = [KINDS[kind].classes[name] for kind, name in known.items()]
    bound = any(getattr(policy, "implicit", False) for policy in classes)
    return (UPPER_BOUND,) * bound + (LOOKS_AHEAD,) * any(map(_looks_ahead, classes))


@lru_cache(maxsize=256)
def _flags(kind: str, spec: str) -> tuple[bool, bool]:
    """Return whether a policy is a bound, and whether it looks ahead."""
    policy = create(kind, spec)
    bound = bool(getattr(policy, "implicit", False))
    return bound, bool(policy.clairvoyant) or _looks_ahead(type(policy))


def _looks_ahead(plugin: type) -> bool:
    return any(vars(base).get("clairvoyant") is True for base in plugin.__mro__)
