"""Measurements of docs/placement.md: one price against the best of other policies, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from scipy.stats import t as student

from calibration.catalogue import open_profile
from policies.registry import create
from simulator import Scenario, simulate
from simulator.trace.trace import Trace
from studies.figures.evictions import MOONCAKE, SESSIONS, first_sessions
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.placed import GROUP, PROFILE
from workloads import open_trace
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.synthetic import read_generator

Policy = tuple[str, str, str]  # placer, eviction, admission

UNIFIED: Policy = ("unified", "unified", "unified")
OTHERS: tuple[Policy, ...] = (  # each is the best in some cell of a wider comparison
    *(("adaptive", eviction, "always") for eviction in ("lru", "pgdsf")),
    *(("marconi", eviction, "always") for eviction in ("lru", "value", "pgdsf")),
    ("branch", "value", "always"),
    *(("adaptive", eviction, "second_sighting") for eviction in ("lru", "value")),
    ("branch", "value", "second_sighting"),
    *(("adaptive", eviction, "value") for eviction in ("lru", "value")),
    ("branch", "value", "value"),
)
GIB = 2**30
RECORDED = {  # as in studies/evictions
    "conversation": (32, 64, 128, 256, 512),
    "synthetic": (32, 64, 128, 256, 512),
    "sessions": (16, 32, 64, 128, 256),
}
GENERATED = {
    "chats": (2, 4, 8, 16, 32),
    "agents": (4, 8, 16, 32, 64),
    "thoughts": (0.25, 0.5, 1, 2, 4),
}
SEEDS, REQUESTS = 4, 2000
WARMUP = 0.1


def _recorded(place: Workplace, name: str) -> Figures:
    """Return the rates at each capacity; the trace is one, so that there is no interval."""
    if name == "sessions":
        trace = open_trace(first_sessions(place), session_rate=0.02)
    else:
        trace = open_trace(place.trace(MOONCAKE.format(name)), block=512)
    return {f"{gib:g}": _cell([trace], gib) for gib in RECORDED[name]}


def _generated(place: Workplace, name: str) -> Figures:
    """Return the mean rates at each capacity over repetitions with other random traffic."""
    del place
    traces = [*_drawn(name)]
    return {f"{gib:g}": _cell(traces, gib) for gib in GENERATED[name]}


def _drawn(name: str) -> Iterator[Trace]:
    generator = read_generator(name)
    for seed in range(SEEDS):
        yield generator.trace(REQUESTS, seed, Poisson(rate=2.0), Drift())


def _cell(traces: Sequence[Trace], gib: float) -> Figures:
    """Return the hit rate of one price, that of the best of the others, and the difference."""
    rates = {policy: _rates(traces, policy, gib) for policy in (UNIFIED, *OTHERS)}
    best = max(OTHERS, key=lambda policy: rates[policy].mean())
    difference = rates[UNIFIED] - rates[best]
    half = None
    if len(traces) > 1:
        error = difference.std(ddof=1) / len(traces) ** 0.5
        half = float(student.ppf(0.975, len(traces) - 1) * error)
    return {
        "unified": float(rates[UNIFIED].mean()),
        "best": float(rates[best].mean()),
        "policy": " · ".join(best),
        "difference": float(difference.mean()),
        "half": half,
    }


def _rates(traces: Sequence[Trace], policy: Policy, gib: float) -> np.ndarray:
    return np.array([_rate(trace, policy, round(gib * GIB)) for trace in traces])


def _rate(trace: Trace, policy: Policy, capacity_bytes: int) -> float:
    placer, eviction, admission = policy
    scenario = Scenario(
        profile=open_profile(PROFILE),
        placer=partial(create, "placer", placer),
        eviction=partial(create, "eviction", eviction),
        admission=partial(create, "admission", admission),
        capacity_bytes=capacity_bytes,
        server="instant",
    )
    columns = simulate(trace, scenario).columns
    counted = slice(int(WARMUP * len(trace)), None)
    saved, prompt = columns["saved_tokens"][counted], columns["prompt_tokens"][counted]
    return float(saved.sum() / prompt.sum())


_NEEDS = {
    "conversation": (MOONCAKE.format("conversation"),),
    "synthetic": (MOONCAKE.format("synthetic"),),
    "sessions": (SESSIONS,),
}
PARTS = (
    *(
        Part(f"one_price_{name}", GROUP, 3, partial(_recorded, name=name), _NEEDS[name])
        for name in RECORDED
    ),
    *(Part(f"one_price_{name}", GROUP, 3, partial(_generated, name=name)) for name in GENERATED),
)
