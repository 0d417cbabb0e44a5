"""Measurements of docs/placement.md: traffic whose answers are known, and traces held back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from calibration.catalogue import open_profile
from policies.registry import create
from simulator import Scenario, simulate
from simulator.results.result import Result
from simulator.trace.trace import Trace
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.placed import GROUP, PROFILE
from workloads import open_trace
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.slicing.cutting import by_requests
from workloads.synthetic import read_generator

REQUESTS = 4000
GENERATED = {  # generator, seed
    "`chats`": ("chats", 0),
    "`agents`": ("agents", 0),
    "`thoughts`": ("thoughts", 0),
    "documents, chats and agents": ("0.4 documents + 0.4 chats + 0.2 agents", 11),
    "long chats and deep thoughts": (
        "0.5 chats:turns_mean=12,user_tokens_median=60 + 0.5 thoughts:samples=2,depth=4",
        12,
    ),
    "system prompts, agents and thoughts": (
        "0.3 system_prompts + 0.4 agents:subagent_share=0.2 + "
        "0.3 thoughts:thought_tokens_median=600",
        13,
    ),
    "short chats, 400 system prompts": (
        "chats:count=400,turns_mean=2,answer_tokens_median=40",
        21,
    ),
    "short agents": (
        "agents:count=60,steps_mean=5,tool_tokens_median=80,call_tokens_median=60",
        22,
    ),
    "wide thoughts": ("thoughts:samples=5,branching=1,depth=5,count=50", 23),
}
SESSIONS = "kv_cache_tester/sessions_rle.jsonl.gz"
SESSION_REQUESTS = 12_000
PLACERS = ("adaptive", "marconi", "last", "last:where=answer")
SMALL_BYTES = 16 * 2**30


def _generated(place: Workplace) -> Figures:
    """Return the shares of the ideal saving by traffic, and token hit rates at 16 GiB."""
    del place
    figures = {}
    for name, (text, seed) in GENERATED.items():
        trace = read_generator(text).trace(REQUESTS, seed, Poisson(rate=5.0), Drift())
        known, unknown = trace, replace(trace, after=None)
        figures[name] = _shares(trace) | {
            "known": _hit_rate(_replay(known, "adaptive", SMALL_BYTES)),
            "unknown": _hit_rate(_replay(unknown, "adaptive", SMALL_BYTES)),
        }
    return figures


def _sessions(place: Workplace) -> Figures:
    """Return the shares of the ideal saving on recorded agent sessions."""
    return _shares(by_requests(open_trace(place.trace(SESSIONS)), 0, SESSION_REQUESTS))


def _shares(trace: Trace) -> Figures:
    """Return the share of the ideal saving, and new checkpoints a request, by placer."""
    ideal = _replay(trace, "dense").columns["saved_tokens"].sum()
    shares = {}
    for placer in PLACERS:
        columns = _replay(trace, placer).columns
        written = float(columns["checkpoints_written"].mean())
        share = float(columns["saved_tokens"].sum() / ideal)
        shares[placer] = {"share": share, "written": written}
    return shares


def _replay(trace: Trace, placer: str, capacity_bytes: int | None = None) -> Result:
    scenario = Scenario(
        profile=open_profile(PROFILE),
        placer=partial(create, "placer", placer),
        eviction=partial(create, "eviction", "lru"),
        admission=partial(create, "admission", "always"),
        capacity_bytes=capacity_bytes,
        server="instant",
        alignment=1,
    )
    return simulate(trace, scenario)


def _hit_rate(result: Result) -> float:
    columns = result.columns
    return float(columns["saved_tokens"].sum() / columns["prompt_tokens"].sum())


PARTS = (
    Part("answers", GROUP, 1, _generated),
    Part("answers_sessions", GROUP, 1, _sessions, (SESSIONS,)),
)
