"""Caveats of traces: how finely they record overlaps and times, and notes from reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simulator.base.units import format_count


def trace_caveats(trace: Mapping[str, Any], name: str = "The trace") -> Iterator[str]:
    """Yield the caveats of a trace: its `granularity` in tokens, and its `notes`."""
    yield from granularity(trace.get("granularity") or 1, name)
    yield from noted(trace.get("notes", []))


def granularity(tokens: int, name: str = "The trace") -> Iterator[str]:
    """Yield that overlaps are known in whole blocks only, where a block has several tokens."""
    if tokens > 1:
        yield (
            f"{name} tells overlaps to whole blocks of {format_count(tokens)} tokens: "
            "checkpoint positions are floored to that, and finer placement cannot show its worth."
        )


def coarse_clock(*, artefact: bool) -> Iterator[str]:
    """Yield that arrivals share the ticks of a coarse clock, where `artefact` says so."""
    if artefact:
        yield (
            "Most arrivals share their time with others: a queue simulated on these times is "
            "longer than it was. --jitter SEED spreads them within their tick."
        )


def noted(notes: Iterable[Any]) -> Iterator[str]:
    """Yield notes as sentences, each with a full stop."""
    for note in notes:
        yield f"{str(note).rstrip('.')}."
