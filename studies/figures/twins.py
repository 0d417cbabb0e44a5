"""Comparison of twins with their originals: the table of docs/workloads.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from calibration.catalogue import open_profile
from policies.registry import create
from simulator import Scenario, simulate
from simulator.trace.trace import Trace
from studies.figures.parts import Figures, Part, Workplace
from workloads import open_trace
from workloads.twin import fit, generate

GROUP = "twins"
PLACERS = ("dense", "last")
GIB = 1 << 30
SEEDS = (0, 1)
LARGE, MIDDLE, SMALL = (32, 64, 128, 256, 512), (2, 4, 8, 16, 32), (0.5, 1, 2, 4, 8)
TRACES: dict[str, Any] = {  # file, options, capacities in GiB, seeds, minutes
    "synthetic": ("mooncake/synthetic_trace.jsonl.gz", {}, LARGE, SEEDS, 1),
    "conversation": ("mooncake/conversation_trace.jsonl.gz", {}, LARGE, SEEDS, 3),
    "sessions": (
        "kv_cache_tester/sessions_rle.jsonl.gz",
        {"session_rate": 0.02},
        (24.6, 41.4, 63.8, 94.1, 135),
        SEEDS[:1],
        6,
    ),
    "tau_airline": ("tau_airline/tau_airline_gpt4o.jsonl.gz", {"block": 16}, SMALL, SEEDS, 0.3),
    "multi_q": ("leval_docqa/leval_multi_q.jsonl.gz", {"block": 16}, MIDDLE, SEEDS, 0.3),
    "system_prompts": ("system_prompts/system_prompts.jsonl.gz", {"block": 16}, MIDDLE, SEEDS, 1),
}


def _twins(place: Workplace, name: str) -> Figures:
    """Return, by placer and seed, the differences of twins from the original in points."""
    path, options, sizes, seeds, _ = TRACES[name]
    original = open_trace(place.trace(path), **options)
    fitted = fit(original)
    twins = [generate(fitted, seed) for seed in seeds]
    capacities = [*(round(size * GIB) for size in sizes), None]
    differences = {}
    for placer in PLACERS:
        rates = _rates(original, placer, capacities)
        apart = [
            [
                100 * (theirs - ours)
                for theirs, ours in zip(_rates(twin, placer, capacities), rates, strict=True)
            ]
            for twin in twins
        ]
        differences[placer] = [_summed(at) for at in zip(*apart, strict=True)]
    return {"gib": [f"{size:g}" for size in sizes], "seeds": len(seeds), **differences}


def _summed(apart: Sequence[float]) -> Figures:
    """Return the mean over seeds, and the largest absolute value."""
    return {"mean": sum(apart) / len(apart), "largest": max(abs(each) for each in apart)}


def _rates(trace: Trace, placer: str, capacities: Sequence[int | None]) -> list[float]:
    """Return token hit rates under `lru`, each request served before the next arrives."""
    return [_rate(trace, placer, capacity) for capacity in capacities]


def _rate(trace: Trace, placer: str, capacity: int | None) -> float:
    scenario = Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity,
        server="instant",
    )
    summary = simulate(trace, scenario).summary()
    return float(summary["saved_tokens"] / summary["prompt_tokens"])


PARTS = tuple(
    Part(f"twin_{name}", GROUP, minutes, partial(_twins, name=name), (path,))
    for name, (path, _, _, _, minutes) in TRACES.items()
)
