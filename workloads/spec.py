"""Specs: frozen dataclasses whose numeric fields have bounds."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any

from simulator.base.errors import UsageError


def knob(default: Any, low: float, high: float) -> Any:
    """Return a dataclass field with a default and bounds (both included)."""
    return field(default=default, metadata={"low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Spec:
    """Base of specs: fields made by `knob` are checked, and whole if their bounds are whole.

    Raises
    ------
    UsageError
        For a field that is not finite or out of range: "name: expected ..., found ...".
    """

    def __post_init__(self) -> None:
        for known in fields(self):
            if "low" in known.metadata:
                _check(known, getattr(self, known.name))
        problem = self.problem()
        if problem is not None:
            raise UsageError(problem)

    def problem(self) -> str | None:
        """Return the first problem with fields that are each within bounds, or None."""
        return None


def _check(known: Field[Any], value: Any) -> None:
    if value is None and known.default is None:
        return
    low, high = known.metadata["low"], known.metadata["high"]
    whole = isinstance(low, int)
    sound = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not sound or not low <= value <= high:
        what = "a whole number" if whole else "a number"
        raise UsageError(f"{known.name}: expected {what} from {low:,} to {high:,}, found {value!r}")
