"""Caveats of budgets: what a placer's budget bounds, and where drawing at random does better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reports.words import first_of


@dataclass(frozen=True, slots=True)
class LostToRandom:
    """A placer that saves less than random positions, though it stores as many states or more.

    Parameters
    ----------
    name, random
        The placer, and `random` with its parameters.
    points, low, high
        By how much `random` saves more, in percentage points, with its 95 % interval.
    states, random_states
        New states a request.
    """

    name: str
    random: str
    points: float
    low: float
    high: float
    states: float
    random_states: float


def budgeted(states: Mapping[str, float]) -> Iterator[str]:
    """Yield what the budgets of several placers do not bound.

    Parameters
    ----------
    states
        Name of a placer with a budget -> the new states a request that it really stored.
    """
    if len(states) > 1:
        each = first_of([f"{name} {count:.2f}" for name, count in states.items()])
        yield (
            "A budget bounds one placement, not what is resident for a prefix: each prompt that "
            f"shares it may store states there. New states a request were {each}. Compare at equal "
            "realised states, or bound those that are resident (`--states-per-prefix 4`)."
        )


def lost_to_random(losses: Sequence[LostToRandom]) -> Iterator[str]:
    """Yield which placers `random` beats with no more new states, and why that can be."""
    if losses:
        each = first_of(
            [
                f"{one.name} by {one.points:.1f} points [{one.low:.1f}, {one.high:.1f}] with "
                f"{one.random_states:.2f} new states a request, not {one.states:.2f}"
                for one in losses
            ]
        )
        yield (
            f"{losses[0].random} beats {each}. It draws anew behind the resume point of every "
            "request, so that the states of a prefix in use move deeper until they lie where "
            "prompts leave it, while a plan for the law of all documents stays where it is. "
            "`scope=document` and `coordinate=auto` plan for documents apart; a cache of entries "
            "(`--cache entries:last=20`) places each prompt once: docs/placement.md, section 10."
        )
