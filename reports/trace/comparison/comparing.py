"""The comparison of two traces: from traces to differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from reports.trace.comparison.chance import SPLITS, Chance
from reports.trace.comparison.differences import Difference, judged
from reports.trace.comparison.reuse import reuse_differences
from reports.trace.comparison.sides import FEWEST_UNITS, Sides, sides_of
from reports.trace.comparison.traffic import traffic_differences
from simulator.base.units import format_count, format_seconds
from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace

SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The differences between traces A and B.

    Parameters
    ----------
    a, b
        The names of the traces.
    sides
        Both traces, each also cut to the span of the shorter one.
    differences
        In order of importance.
    notes
        Remarks on how the traces were compared, and on what could not be compared.
    """

    a: str
    b: str
    sides: Sides
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def of(self, verdict: str) -> list[Difference]:
        """Return the differences with this verdict."""
        return [each for each in self.differences if each.verdict == verdict]

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        names = (self.a, self.b)
        sides = [
            {
                "name": name,
                "requests": len(side.trace),
                "requests_compared_for_reuse": len(side.same),
                "prompt_tokens": int(side.trace.prompt_tokens.sum()),
                "granularity": side.trace.granularity,
            }
            for name, side in zip(names, self.sides, strict=True)
        ]
        return {
            "a": sides[0],
            "b": sides[1],
            "differences": [each.as_json() for each in self.differences],
            "notes": list(self.notes),
        }


def compare_traces(a: Trace, b: Trace, names: tuple[str, str] | None = None) -> Comparison:
    """Compare two traces of at least one request each; the same traces give the same result.

    `names` replaces the traces' own names.
    """
    sides, chance = sides_of(a, b), Chance(SEED)
    differences = judged([*traffic_differences(sides, chance), *reuse_differences(sides, chance)])
    return Comparison(*(names or (a.name, b.name)), sides, differences, tuple(_notes(sides)))


def _notes(sides: Sides) -> Iterator[str]:
    """Yield how traces were compared, over which span, and what one of them does not record."""
    yield _how(sides)
    for name, side in zip("AB", sides, strict=True):
        if len(side.same) < len(side.trace):
            yield (
                f"Reuse grows with the length of a trace: it is compared over the first "
                f"{format_count(len(side.same))} of {format_count(len(side.trace))} requests of "
                f"{name}, as long as the other."
            )
    traces = [side.trace for side in sides]
    facts = {
        "outputs": [bool(trace.output_tokens.any()) for trace in traces],
        "arrival times": [trace.arrival_seconds is not None for trace in traces],
        "sessions": [bool((trace.session != NO_SESSION).any()) for trace in traces],
        "labels": [bool((trace.label != NO_LABEL).any()) for trace in traces],
        "answers, which later prompts repeat": [trace.after is not None for trace in traces],
    }
    for what, present in facts.items():
        if any(present) and not all(present):
            yield f"Only {'AB'[present.index(True)]} tells {what}."
    a, b = (trace.granularity for trace in traces)
    if a != b:
        yield (
            f"A tells overlaps to {a:,} tokens, B to {b:,}: the coarser one finds less to reuse "
            "for that alone."
        )


def _how(sides: Sides) -> str:
    kinds = sides[0].units
    if not kinds:
        return f"Nothing is tested: a trace has fewer than {FEWEST_UNITS} units to deal out."
    block = int(np.bincount(sides[0].units["blocks"])[0]) if "blocks" in kinds else 0
    words = {"blocks": f"blocks of {block:,} requests", "sessions": "sessions"}
    units = " and of ".join(words[kind] for kind in kinds)
    periods = sides[0].periods
    rates = "" if periods is None else f" (of rates: periods of {format_seconds(periods[0, 1])})"
    cautious = ", the more cautious of the two" if len(kinds) > 1 else ""
    return (
        f"Beyond chance: of {SPLITS} random ways to deal out the {units} of both traces{cautious}, "
        "fewer than 5 % (p) put them as far apart, after Holm's correction for all measures"
        f"{rates}. A change beyond chance may still be one that comes and goes: chance "
        "here knows nothing of days and weeks."
    )
