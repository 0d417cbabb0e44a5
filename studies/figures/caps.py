"""The original's comparison and what caps do, from docs/placement.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calibration.catalogue import open_profile
from studies.figures.parts import Figures, Part, Workplace
from studies.paper.original import ENTRIES, SEEDS, compared, mean_outcome, outcome
from workloads import open_trace

GROUP = "paper"
RUNS = "../reference/sparse_prefix_paper/sparse_prefix_runs.parquet"  # beside the public traces
SYSTEM_PROMPTS = "system_prompts/system_prompts.jsonl.gz"
PROFILE = "qwen3.5-0.8b-h200"
CACHES: dict[str, dict[str, Any]] = {
    "tree": {},
    "entry": {"states_per_prefix": "entry:{budget}"},
    "path": {"states_per_prefix": "path:{budget}"},
    "entries": {"cache": "entries:per_document=4"},
}
PLACERS = (
    "random:budget={}",
    "balanced:budget={}",
    "published:budget={}",
    "optimal:budget={}",
    "optimal:budget={},scope=document",
    "optimal:budget={},coordinate=auto",
    "adaptive",
)
BUDGETS = (1, 8)


def _original(place: Workplace) -> Figures:
    """Return the comparison on each run of the original's logs."""
    return {run: compared(place.trace(RUNS), run) for run in ENTRIES}


def _caps(place: Workplace) -> Figures:
    """Return savings and states on system prompts, by budget, cache and placer."""
    trace = open_trace(place.trace(SYSTEM_PROMPTS), block=16)
    profile = open_profile(PROFILE)
    figures: Figures = {}
    for budget in BUDGETS:
        for cache, settings in CACHES.items():
            filled = {key: text.format(budget=budget) for key, text in settings.items()}
            figures.setdefault(str(budget), {})[cache] = {
                placer.format("M"): mean_outcome(
                    outcome(trace, 0, profile, spec, timed=False, **filled)
                    for spec in _specs(placer, budget)
                )
                for placer in PLACERS
            }
    return figures


def _specs(placer: str, budget: int) -> Iterator[str]:
    """Yield a placer with its budget, `random` with several seeds."""
    spec = placer.format(budget)
    if not placer.startswith("random"):
        yield spec
        return
    yield from (f"{spec},seed={seed}" for seed in range(SEEDS))


PARTS = (
    Part("paper_original", GROUP, 5, _original, (RUNS,)),
    Part("paper_caps", GROUP, 2, _caps, (SYSTEM_PROMPTS,)),
)
