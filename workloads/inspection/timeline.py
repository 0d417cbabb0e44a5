"""Savings of an unbounded cache over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.clock import TraceClock
from workloads.inspection.overlaps import Int64

WINDOWS = 60


@dataclass(frozen=True, slots=True)
class Timeline:
    """Requests and savings in each of equally long windows of the trace.

    Parameters
    ----------
    unit
        Unit of `window` and `start`: "seconds" or "requests".
    window
        Length of a window.
    start
        Start of each window.
    requests, prompt_tokens
        Number of requests that arrive in each window, and their prompt tokens.
    saved_tokens
        Tokens of these saved by an unbounded cache with a state at every position.
    """

    unit: str
    window: float
    start: tuple[float, ...]
    requests: tuple[int, ...]
    prompt_tokens: tuple[int, ...]
    saved_tokens: tuple[int, ...]


def timeline(trace: Trace, clock: TraceClock, saved: Int64) -> Timeline:
    """Sum tokens by window; `saved` (shape (requests,)) is the saving of each request."""
    windows = min(WINDOWS, len(trace))
    window = clock.span / windows or 1.0
    at = np.minimum((clock.times / window).astype(np.int64), windows - 1)

    def summed(values: Int64 | None) -> tuple[int, ...]:
        sums: NDArray[np.int64] = np.zeros(windows, dtype=np.int64)
        np.add.at(sums, at, 1 if values is None else values)
        return tuple(sums.tolist())

    return Timeline(
        unit=clock.unit,
        window=window,
        start=tuple((window * np.arange(windows)).tolist()),
        requests=summed(None),
        prompt_tokens=summed(trace.prompt_tokens),
        saved_tokens=summed(saved),
    )
