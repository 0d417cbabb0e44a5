"""What predicted laws save beside the law of decay, for every drift, without drift, and of traces.

The plans are those of a drift study (`milepost drift`), with 8 checkpoints. The clairvoyant plan is
the best one for the true law in the middle of each hundred requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from policies.placement.learned import PREDICTORS
from policies.placement.staircase import solve
from reports import Study
from reports.drift.planning import follow, reached
from reports.results.comparison import compare
from reports.results.memory import RememberedRequests, memory_requests
from reports.statistics import Estimate, Ratio, corrected, paired_difference, replay_difference
from simulator.trace.trace import Trace
from studies.figures.births import BirthsEstimator
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.sweeps import estimate
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.synthetic import SessionGenerator, read_generator
from workloads.synthetic.truth import overlap_laws

Float64 = NDArray[np.float64]

SEEDS = 5
MORE_SEEDS = 10  # of the traffic in which periods gain, which differs between seeds
BUDGET = 8
WINDOW = 100  # requests
DECAY = "0.99"
PLAIN = {DECAY: f"optimal:budget={BUDGET},decay={DECAY}"}
PREDICTED = {name: f"{PLAIN[DECAY]},predict={name}" for name in ("trend", "period", "births")}
GENERATED = {  # generator, drift, requests
    "none": ("system_prompts", "", 4000),
    "shift, gradual": ("system_prompts", "shift:distance=0.3", 4000),
    "shift, sudden": ("system_prompts", "shift:distance=0.3,at=0.5", 4000),
    "sixteen weeks": ("system_prompts", "cycles:distance=0.5,weeks=16", 8000),
    "births": ("system_prompts", "births:times=2", 4000),
    "many births": ("system_prompts", "births:times=8", 4000),
    "two rewrites": ("system_prompts", "rewrites:times=2,moved=1000", 4000),
    "fifty rewrites": ("system_prompts", "rewrites:times=50,moved=40", 4000),
    "growth in 4 steps": ("system_prompts", "growth:factor=2,steps=4", 4000),
    "growth in 64 steps": ("system_prompts", "growth:factor=3,steps=64", 4000),
    "documents, none": ("documents", "", 4000),
    "documents, growth in 64 steps": ("documents", "growth:factor=3,steps=64", 4000),
}
CACHED = {
    "decay": PLAIN[DECAY],
    "trend": PREDICTED["trend"],
    "end": f"{PLAIN[DECAY]},coordinate=end",
}
TRACES: dict[str, tuple[str, int | None]] = {  # file, tokens a block
    "Mooncake synthetic": ("mooncake/synthetic_trace.jsonl.gz", None),
    "Mooncake conversation": ("mooncake/conversation_trace.jsonl.gz", None),
    "system prompts": ("system_prompts/system_prompts.jsonl.gz", 16),
}


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Saved tokens of each window of a trace by placer, its overlaps, and its memory in windows."""

    saved: Mapping[str, Float64]
    overlap: Float64
    memory: float = 0.0

    def share(self, name: str) -> float:
        """Return saved / overlap tokens."""
        return float(self.saved[name].sum() / self.overlap.sum())


def _generated(name: str, seed: int) -> _Judged:
    generator, drift, requests = GENERATED[name]
    source, drifting = read_generator(generator), read_drift(drift)
    assert isinstance(source, SessionGenerator)
    depths = _depths(source.trace(requests, seed, Poisson(1.0), drifting))
    middles = range(WINDOW // 2, requests, WINDOW)
    known = np.empty_like(depths)
    for middle, law in zip(
        middles, overlap_laws(source, middles, requests, seed, drifting), strict=True
    ):
        window = slice(middle - WINDOW // 2, middle + WINDOW // 2)
        best = np.array(solve(law.depths, law.weights, BUDGET).positions())
        known[window] = reached(best, depths[window])
    return _judged(depths, {"clairvoyant": known})


def _traced(path: str, block: int | None) -> _Judged:
    trace = open_trace(path, block=block)
    requests = RememberedRequests(trace.session, trace.prompt_tokens, None, np.zeros(len(trace)))
    return _judged(_depths(trace), {}, memory_requests(requests) / WINDOW)


def _depths(trace: Trace) -> NDArray[np.int64]:
    return np.minimum(overlaps(trace), trace.prompt_tokens - 1)


def _judged(
    depths: NDArray[np.int64], known: dict[str, NDArray[np.int64]], memory: float = 0.0
) -> _Judged:
    """Follow all placers, and sum by window what counts: all but the first tenth."""
    with patch.dict(PREDICTORS, births=BirthsEstimator):
        saved = known | {
            name: follow(spec, depths).saved_tokens(depths)
            for name, spec in (PLAIN | PREDICTED).items()
        }
    return _Judged(
        {name: _by_window(tokens) for name, tokens in saved.items()}, _by_window(depths), memory
    )


def _by_window(tokens: NDArray[np.int64]) -> Float64:
    windows = len(tokens) // WINDOW
    sums = tokens[: windows * WINDOW].reshape(windows, WINDOW).sum(axis=1)
    return sums[-(-windows // 10) :].astype(np.float64)


def _seeds(name: str) -> int:
    return MORE_SEEDS if name == "sixteen weeks" else SEEDS


def _predicted(place: Workplace) -> Figures:
    """Return by traffic the shares saved, and the differences of predictions to decay."""
    with ProcessPoolExecutor(place.jobs, mp_context=get_context("spawn")) as pool:
        generated = {
            name: [pool.submit(_generated, name, seed) for seed in range(_seeds(name))]
            for name in GENERATED
        }
        traced = {
            name: [pool.submit(_traced, str(place.trace(file)), block)]
            for name, (file, block) in TRACES.items()
        }
        judged = {
            name: [each.result() for each in waiting]
            for name, waiting in (generated | traced).items()
        }
    differences = {
        name: dict(
            zip(judged, corrected([_less(each, name) for each in judged.values()]), strict=True)
        )
        for name in PREDICTED
    }
    return {
        name: _figures(each) | {by: estimate(differences[by][name]) for by in PREDICTED}
        for name, each in judged.items()
    }


def _less(replications: Sequence[_Judged], name: str) -> Estimate:
    """Return the share that a prediction saves less that of decay."""
    if len(replications) > 1:
        return paired_difference(
            [each.share(name) for each in replications],
            [each.share(DECAY) for each in replications],
        )
    (only,) = replications
    ours, theirs = (Ratio(only.saved[each], only.overlap) for each in (name, DECAY))
    return replay_difference(ours, theirs, only.memory)


def _figures(replications: Sequence[_Judged]) -> Figures:
    names = [name for name in replications[0].saved if name not in PREDICTED]
    return {
        "shares": {
            name: float(np.mean([each.share(name) for each in replications])) for name in names
        }
    }


def _simulated(place: Workplace) -> Figures:
    """Return hit rates and states written where prompts grow, in an unbounded cache."""
    generator, drift, requests = GENERATED["growth in 64 steps"]
    settings = {
        "workload": {"generator": generator, "drift": drift, "requests": requests},
        "server": {"kind": "instant"},
        "study": {"warmup": 0.1, "replications": SEEDS, "baseline": PLAIN[DECAY]},
        "grid": {"policy.placer": [*CACHED.values()], "cache.capacity": ["unbounded"]},
    }
    results = Study(settings).run(place.folder / "predicted_simulated", place.jobs)
    (world,) = compare(results.cells, results.manifest)
    points = {name: world.points[spec, "unbounded"] for name, spec in CACHED.items()}
    return {
        name: {
            "rate": point.share("saved_tokens"),
            "difference": estimate(point.token_hit_rate_difference),
            "written": point.mean("checkpoints_written"),
        }
        for name, point in points.items()
    }


PARTS = (
    Part("predicted", "drift", 6, _predicted, tuple(file for file, _ in TRACES.values())),
    Part("predicted_simulated", "drift", 0.5, _simulated),
)
