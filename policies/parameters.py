"""What a constructor of a policy refuses, with one wording for all."""

from __future__ import annotations


def require(holds: bool, parameter: str, expected: str, found: object) -> None:
    """Raise ValueError "parameter: expected ..., found ..." unless the condition holds."""
    if not holds:
        raise ValueError(f"{parameter}: expected {expected}, found {found!r}")


def require_at_least(parameter: str, found: float, least: float) -> None:
    """Raise ValueError unless `found` is at least `least` (NaN is not)."""
    require(found >= least, parameter, f"{least} or more", found)
