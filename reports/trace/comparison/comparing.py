"""Two traces to their differences."""

from __future__ import annotations

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
    """The difference between A and B.

    Parameters
    ----------
    a, b
        What they are called.
    sides
        Both traces, and the same span of both.
    differences
        By importance.
    notes
        How it was compared, and what could not be.
    """

    a: str
    b: str
    sides: Sides
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def of(self, verdict: str) -> list[Difference]:
        """Return the differences of which this is said."""
        return [each for each in self.differences if each.verdict == verdict]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
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
    """Compare two traces of at least one request each; the same traces give the same answer.

    `names` are what they are called, other than by their own names.
    """
    sides, chance = sides_of(a, b), Chance(SEED)
    differences = judged([*traffic_differences(sides, chance), *reuse_differences(sides, chance)])
    return Comparison(*(names or (a.name, b.name)), sides, differences, tuple(_notes(sides)))


def _notes(sides: Sides) -> list[str]:
    return [_how(sides), *_span(sides), *_left_out(sides)]


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


def _span(sides: Sides) -> list[str]:
    cut = [name for name, side in zip("AB", sides, strict=True) if len(side.same) < len(side.trace)]
    if not cut:
        return []
    side = sides["AB".index(cut[0])]
    return [
        f"Reuse grows with the length of a trace: it is compared over the first "
        f"{format_count(len(side.same))} of {format_count(len(side.trace))} requests of {cut[0]}, "
        "as long as the other."
    ]


def _left_out(sides: Sides) -> list[str]:
    notes = []
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
            notes.append(f"Only {'AB'[present.index(True)]} tells {what}.")
    if traces[0].granularity != traces[1].granularity:
        notes.append(
            f"A tells overlaps to {traces[0].granularity:,} tokens, B to "
            f"{traces[1].granularity:,}: the coarser one finds less to reuse for that alone."
        )
    return notes
