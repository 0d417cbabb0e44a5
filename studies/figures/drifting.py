"""Figures of a drift study, and those of docs/drift.md on Mooncake's traces."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from reports import Study
from reports.drift.findings import (
    Finding,
    against_best,
    best_of,
    difference,
    find_all,
    slowest_as_good,
)
from reports.drift.stored import read_series
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.results.comparison import compare
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.sweeps import estimate

GROUP = "drift"
TRACE = "mooncake/{}_trace.jsonl.gz"
FIRST, REQUESTS = 300, 3993  # of the synthetic trace; the first FIRST are warm-up
SIMULATED = (
    "optimal:budget=8,train=200",
    "optimal:budget=8,window=50",
    "optimal:budget=8,window=400,drift=0.01",
    "optimal:budget=8,window=800",
)


def drift_figures(folder: Path) -> Figures:
    """Return the distances between windows, the savings of placers, and how often to re-plan."""
    study = read_series(folder)
    findings = find_all(study)
    fastest, slowest = min(study.paced), slowest_as_good(study)
    behind = against_best(study, findings)
    placers = {name: _placer(findings[name]) for name in (CLAIRVOYANT, *study.placers)}
    for name, each in behind.items():
        placers[name]["against_best"] = estimate(each)
    return {
        "placers": placers,
        "best": best_of(study, findings).placer,
        "as_good_every": slowest,
        "as_good_loses": estimate(difference(study, study.paced[fastest], study.paced[slowest])),
        "paced": {str(every): _placer(findings[placer]) for every, placer in study.paced.items()},
        "why_no_interval": sorted({each.saved_share.reason for each in findings.values()} - {""}),
        **_moved(study),
    }


def _moved(study: DriftStudy) -> Figures:
    """Return the largest significant step, and the distance of the last window from the first."""
    distances = study.distances
    largest, last = distances.largest, distances.since_first[-1]
    return {
        "window_requests": study.windows.width,
        "largest_step": largest and [largest.kolmogorov, largest.kolmogorov_band],
        "steps_beyond_chance": sum(step.moved for step in distances.steps),
        "last_from_first": last.kolmogorov,
    }


def _placer(finding: Finding) -> Figures:
    bounds = finding.variation_bound_tokens, finding.kolmogorov_bound_tokens
    return {
        "saved": estimate(finding.saved_share),
        "lost": estimate(finding.lost_share),
        "lost_tokens": finding.lost_tokens,
        "regret_tokens": finding.regret_tokens,
        "bound_tokens": min(bounds),
        "plans": finding.plans,
        "rewritten": finding.rewritten,
    }


def _trace(place: Workplace, name: str) -> Figures:
    trace = place.trace(TRACE.format(name))
    return drift_figures(place.study(f"drift_{name}", "drift", "--trace", trace))


def _simulated(place: Workplace) -> Figures:
    """Return the savings of placers relative to `dense`, in a cache on the synthetic trace."""
    settings = {
        "workload": {"trace": str(place.trace(TRACE.format("synthetic")))},
        "model": {"profile": "qwen3.5-9b-h200"},
        "server": {"kind": "instant"},
        "study": {"warmup": FIRST / REQUESTS},
        "grid": {"policy.placer": ["dense", *SIMULATED], "cache.capacity": ["unbounded"]},
    }
    results = Study(settings).run(place.folder / "drift_simulated", place.jobs)
    (world,) = compare(results.cells, results.manifest)
    saved = {name: world.points[name, "unbounded"].share("saved_tokens") for name in SIMULATED}
    dense = world.points["dense", "unbounded"].share("saved_tokens")
    return {name: share / dense for name, share in saved.items()}


PARTS = (
    *(
        Part(f"drift_{name}", GROUP, 0.5, partial(_trace, name=name), (TRACE.format(name),))
        for name in ("synthetic", "conversation")
    ),
    Part("drift_simulated", GROUP, 0.2, _simulated, (TRACE.format("synthetic"),)),
)
