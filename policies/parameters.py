"""Checks of constructor parameters, with one wording for all policies."""

from __future__ import annotations


def require(holds: bool, parameter: str, expected: str, given: object) -> None:
    """Raise ValueError "parameter: expected ..., found ..." unless the condition holds."""
    if not holds:
        raise ValueError(f"{parameter}: expected {expected}, found {given!r}")


def require_at_least(parameter: str, given: float, least: float) -> None:
    """Raise ValueError unless `given` is at least `least` (NaN is not)."""
    require(given >= least, parameter, f"{least} or more", given)
