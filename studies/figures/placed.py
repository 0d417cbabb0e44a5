"""Measurements of docs/placement.md: shares of the ideal saving on six traces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from calibration.catalogue import open_profile
from policies.registry import create
from reports import Study
from reports.results.comparison import compare
from reports.results.points import Point, WorldPoints
from simulator import Scenario, simulate
from studies.figures.parts import Figures, Part, Workplace
from workloads import open_trace

GROUP = "placement"
PROFILE = "qwen3.5-9b-h200"
TRACES = {  # file, tokens per block
    "system_prompts": ("system_prompts/system_prompts.jsonl.gz", 16),
    "multi_q": ("leval_docqa/leval_multi_q.jsonl.gz", 16),
    "quality": ("leval_docqa/leval_quality.jsonl.gz", 16),
    "synthetic": ("mooncake/synthetic_trace.jsonl.gz", 512),
    "conversation": ("mooncake/conversation_trace.jsonl.gz", 512),
    "tau_airline": ("tau_airline/tau_airline_gpt4o.jsonl.gz", 16),
}
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)  # of the peak size of an unbounded cache under `branch`
OTHERS = (
    "last",
    "branch",
    "branch:first=256",
    "block:size=1024",
    "published:budget=8",
    "balanced:budget=4",
    "optimal:budget=4",
    "optimal:budget=2,coordinate=end",
)
PLACERS = ("adaptive", *OTHERS)
FREE = ("dense", "adaptive", "branch")
COORDINATES = ("start", "end", "branch", "auto")
SMALL_PLACERS = ("adaptive", "published:budget=8", "block:size=1024", "balanced:budget=4", "branch")
SMALL = ("150 MB", "200 MB", "250 MB", "300 MB")


def _placed(place: Workplace, name: str) -> Figures:
    """Return the savings of placers relative to states everywhere in an unbounded cache."""
    by_coordinate = [_spec(each) for each in COORDINATES]
    free = _world(place, name, "free", [*FREE, *by_coordinate], ["unbounded"])
    ideal = _rate(free, "dense", "unbounded")
    peak = free.points["branch", "unbounded"].mean("cache_peak_bytes")
    assert peak is not None
    capacities = {f"{share:.0%}": f"{round(share * peak)} B" for share in SHARES}
    return {
        "peak_bytes": peak,
        "unbounded": {each: _free(free.points[each, "unbounded"], ideal) for each in FREE},
        "coordinates": {
            each: _free(free.points[spec, "unbounded"], ideal)
            for each, spec in zip(COORDINATES, by_coordinate, strict=True)
        },
        "auto_chose": _chosen(place, name),
        "bounded": _bounded(place, name, capacities, ideal),
    }


def _spec(coordinate: str) -> str:
    """Return the canonical name of the placer, which omits the default coordinate."""
    named = "" if coordinate == "start" else f",coordinate={coordinate}"
    return f"optimal:budget=4{named}"


def _chosen(place: Workplace, name: str) -> str:
    """Return the coordinate of the placer's last plan, where it may choose."""
    path, block = TRACES[name]
    placer: Any = create("placer", "optimal:budget=4,coordinate=auto")
    scenario = Scenario(
        profile=open_profile(PROFILE),
        placer=lambda: placer,
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        server="instant",
        alignment=1,
    )
    simulate(open_trace(place.trace(path), block=block), scenario)
    return str(placer.coordinate())


def _bounded(place: Workplace, name: str, capacities: dict[str, str], ideal: float) -> Figures:
    """Return, by share of the peak, the savings with `lru`."""
    sizes = list(capacities.values())
    lru = _world(place, name, "lru", PLACERS, sizes)
    savings = {}
    for share, at in zip(capacities, lru.capacities, strict=True):
        rates = {each: _rate(lru, each, at) / ideal for each in PLACERS}
        savings[share] = {
            "adaptive": rates["adaptive"],
            "best_of_others": max(rates[each] for each in OTHERS),
        }
    return savings


def _world(
    place: Workplace,
    name: str,
    kind: str,
    placers: Sequence[str],
    capacities: Sequence[str],
) -> WorldPoints:
    """Replay a trace on the instant server with an alignment of 1, and no warm-up."""
    trace, block = TRACES[name]
    settings: dict[str, Any] = {
        "workload": {"trace": str(place.trace(trace)), "block": block},
        "model": {"profile": PROFILE, "alignment": 1},
        "server": {"kind": "instant"},
        "policy": {"eviction": "lru"},
        "grid": {"policy.placer": list(placers), "cache.capacity": list(capacities)},
    }
    results = Study(settings).run(place.folder / f"placed_{name}_{kind}", place.jobs)
    (world,) = compare(results.cells, results.manifest)
    return world


def _rate(world: WorldPoints, placer: str, capacity: str) -> float:
    return world.points[placer, capacity].share("saved_tokens")


def _free(point: Point, ideal: float) -> Figures:
    """Return the share of the ideal, and new checkpoints per request."""
    written = point.mean("checkpoints_mean_per_request")
    return {"share": point.share("saved_tokens") / ideal, "written": written}


def _small(place: Workplace) -> Figures:
    """Return token hit rates in caches smaller than a prompt and its states."""
    world = _world(place, "quality", "small", SMALL_PLACERS, SMALL)
    return {
        size: {placer: _rate(world, placer, at) for placer in SMALL_PLACERS}
        for size, at in zip(SMALL, world.capacities, strict=True)
    }


PARTS = (
    *(
        Part(f"placed_{name}", GROUP, 2, partial(_placed, name=name), (trace,))
        for name, (trace, _) in TRACES.items()
    ),
    Part("placed_small", GROUP, 0.1, _small, (TRACES["quality"][0],)),
)
