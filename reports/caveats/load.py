"""Caveats of the load: queues that grow until the end, and requests that were not served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.results.overload import RULE
from reports.words import first_of
from simulator.base.units import format_count


def overloaded(behind: Sequence[str], of: int) -> Iterator[str]:
    """Yield where queues grow, and by which rule; `behind` names these points, out of `of`."""
    if behind:
        where = "" if len(behind) == of else f": {first_of(behind)}"
        yield (
            f"Overload: in {len(behind)} of {of} points the queue grows to the end of the "
            f"trace{where}. Their times to first token tell how long the trace is, not what users "
            f"of a steady server would see: fewer requests per second or more replicas. {RULE}"
        )


def not_served(rejected: float, unfinished: float) -> Iterator[str]:
    """Yield how requests that were not served are counted, where there are some."""
    if rejected or unfinished:
        yield (
            f"{format_count(rejected)} rejected and {format_count(unfinished)} unfinished requests "
            "stay in the denominator of the token hit rate and are missing from TTFT."
        )
