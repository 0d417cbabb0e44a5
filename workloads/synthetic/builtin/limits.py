"""Bounds of the parameters of the built-in workload."""

from __future__ import annotations

from simulator.base.bounds import MAX_REQUESTS
from simulator.base.errors import UsageError

_INTEGER_LIMITS = {
    "requests": (1, MAX_REQUESTS),
    "documents": (1, 10**6),
    "system_prompts": (1, 10**6),
    "document_tokens_median": (64, 10**6),
}
_NUMBER_LIMITS = {
    "drift": (0.0, 1.0),
    "question_weight": (0.0, 1e6),
    "system_weight": (0.0, 1e6),
    "chat_weight": (0.0, 1e6),
    "zipf_exponent": (0.0, 4.0),
    "turns_mean": (1.0, 64.0),
    "think_seconds_median": (0.001, 1e5),
}
LIMITS: dict[str, tuple[float, float]] = {**_NUMBER_LIMITS, **_INTEGER_LIMITS}


def check_knob(name: str, value: float) -> None:
    """Raise `UsageError` for a parameter that is not finite or out of range."""
    whole = name in _INTEGER_LIMITS
    limits = _INTEGER_LIMITS.get(name) or _NUMBER_LIMITS.get(name)
    if limits is None:
        return
    kind: type | tuple[type, ...] = int if whole else (int, float)
    sound = isinstance(value, kind) and not isinstance(value, bool)
    if not sound or not limits[0] <= value <= limits[1]:
        what = "an integer" if whole else "a number"
        expected = f"{what} from {limits[0]:,} to {limits[1]:,}"
        raise UsageError(f"synthetic.{name}: expected {expected}, found {value!r}")
