"""Caveats of foresight: policies that know the future, which no real system can run, and bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND
from reports.words import first_of


def looking_ahead(marks: Mapping[str, tuple[str, ...]], *, bounded: bool = False) -> Iterator[str]:
    """Yield which policies are bounds and which know future requests.

    Parameters
    ----------
    marks
        Name of a policy -> its marks.
    bounded
        Whether figures are compared with the best possible.
    """
    bounds = [name for name, its in marks.items() if UPPER_BOUND in its]
    seers = [name for name, its in marks.items() if LOOKS_AHEAD in its]
    if bounds:
        verb = "holds" if len(bounds) == 1 else "hold"
        yield f"{first_of(bounds)} {verb} a state at every position for free: an upper bound only."
    if seers:
        verb = "looks" if len(seers) == 1 else "look"
        yield (
            f"{first_of(seers)} {verb} ahead in the trace, which no real system can: shown to "
            "compare with, and never the answer where there is another."
        )
    if bounded:
        yield (
            "“Best possible” is a bound: no placer, admission and eviction policy can exceed it, "
            "and perhaps none can reach it. One that looks ahead has a plan, not the best possible."
        )
