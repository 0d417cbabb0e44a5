"""Anomalies of trace files, noted by readers and reported by `workloads.validation`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One kind of anomaly in a trace file, and how often it occurs.

    Parameters
    ----------
    what
        Its fixed name, such as "bad-line".
    count
        Number of requests (or lines) affected.
    first_line
        Number of the first line affected, None if no single line can be named.
    detail
        Its meaning, in one sentence.
    error
        Whether it makes an import fail; otherwise it is a warning.
    """

    what: str
    count: int
    first_line: int | None
    detail: str
    error: bool = False
