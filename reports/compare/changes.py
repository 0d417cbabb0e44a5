"""What differs between two manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.compare.outcome import Change


def changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the keys that differ, in the order of A, then what only B has."""
    keys = dict.fromkeys([*a, *b])
    values = ((key, a.get(key), b.get(key)) for key in keys)
    return tuple(Change(key, mine, theirs) for key, mine, theirs in values if mine != theirs)
