"""One sentence on where a policy stores states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reports.results.positions.patterns import NEARLY_ALL, Pattern, pattern_of
from reports.results.positions.stored import Stored

PLACES = {
    "at_end": "at the end of the prompt",
    "at_branch": "where prompts were seen to diverge",
    "in_answer": "in the answer",
    "elsewhere": "elsewhere",
}
POINTED = ("at_end", "at_branch", "in_answer")
OFFSETS = ("before_end", "from_start")  # several of which may fit by chance
LEAST_TOLD = 0.005  # a smaller share is not told
EVEN, LEAST_EVEN = 0.1, 20  # distance from a uniform law (Kolmogorov), and states to tell it


def words(name: str, stored: Stored, pattern: Pattern | None, *, implicit: bool = False) -> str:
    """Say how many states a policy of this name stores, and where; `pattern` is how they lie."""
    if implicit:
        return f"`{name}` holds a state at every position at no cost: it stores none"
    if not len(stored):
        return f"`{name}` stores no states"
    rate = len(stored) / len(stored.requests)
    return f"`{name}` stores {rate:.2f} states a request: {places(stored, pattern)}"


def places(stored: Stored, pattern: Pattern | None) -> str:
    """Say where the states lie, the most frequent place first."""
    kinds = stored.kinds()
    shares = {kind: float(which.mean()) for kind, which in kinds.items()}
    if max(shares[kind] for kind in POINTED) < NEARLY_ALL:
        several = pattern is not None and pattern.kind in OFFSETS and len(pattern.tokens) > 1
        by_chance = several and shares["elsewhere"] < NEARLY_ALL
        if pattern is not None and not by_chance:
            return f"nearly all {pattern.words()}"
    order = sorted(shares, key=lambda kind: (kind == "elsewhere", -shares[kind]))
    rest = _elsewhere(stored.where(kinds["elsewhere"]))
    return ", ".join(
        _part(shares[kind], rest if kind == "elsewhere" else PLACES[kind])
        for kind in order
        if shares[kind] >= LEAST_TOLD
    )


def _elsewhere(rest: Stored) -> str:
    """Return words on states at none of the named places."""
    if not len(rest):
        return PLACES["elsewhere"]
    pattern = pattern_of(rest)
    if pattern is not None:
        return pattern.words()
    share = np.sort(rest.position / rest.requests.prompt[rest.row])
    even = (np.arange(len(share)) + 0.5) / len(share)
    if len(share) >= LEAST_EVEN and np.abs(share - even).max() < EVEN:
        return "evenly over the prompt"
    near = _quartiles(rest.requests.prompt[rest.row] - rest.position)
    far = _quartiles(rest.position)
    if 2 * (near[1] - near[0]) < far[1] - far[0]:
        return f"before the end (half of them by {near[0]:,.0f} to {near[1]:,.0f} tokens)"
    low, high = (f"{100 * end:.0f} %" for end in _quartiles(share))
    return f"elsewhere (half of them between {low} and {high} of the prompt)"


def _quartiles(values: NDArray[Any]) -> list[float]:
    return list(np.percentile(values, [25, 75]).tolist())


def _part(share: float, place: str) -> str:
    """Return the share at a place in whole percent; only all of the states give 100 %."""
    return f"all {place}" if share == 1 else f"{min(round(100 * share), 99)} % {place}"
