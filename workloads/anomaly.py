"""An oddity of a trace file, as readers note it and `workloads.validation` reports it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One kind of oddity.

    Parameters
    ----------
    what
        A fixed word for it, such as "bad-line".
    count
        How many requests (or lines) show it.
    first_line
        Line of the first, None where a line cannot be named.
    detail
        What it means, in one sentence.
    error
        Whether an import fails on it; anything else is a warning.
    """

    what: str
    count: int
    first_line: int | None
    detail: str
    error: bool = False
