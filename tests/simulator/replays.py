"""Replays of prompts that are written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from policies.admission.always import Always
from policies.eviction.lru import Lru
from simulator.plugins.protocols import Placer
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from tests.simulator.prompts import Prompt, toy_profile, trace_of


def replay(
    prompts: Sequence[Prompt],
    arrivals: Sequence[float] | None,
    placer: Callable[[], Placer],
    *,
    granularity: int = 1,
    answers: Sequence[Prompt] | None = None,
    **scenario: Any,
) -> Result:
    """Replay prompts, with a recount after each request.

    What is not said is LRU, an unbounded cache into which all may enter, and a second a token.
    """
    settings = {"profile": toy_profile(), "eviction": Lru, "admission": Always} | scenario
    return simulate(
        trace_of(prompts, arrivals, granularity, answers),
        Scenario(placer=placer, check_every_request=True, **settings),
    )
