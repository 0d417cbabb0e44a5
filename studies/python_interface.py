"""Milepost from Python, cell by cell: a simulation, a policy of one's own, a study, a comparison.

    python studies/python_interface.py

Editors that know `# %%` run it as a notebook. Results go to a temporary folder; nothing is left.
"""

# %% A trace. `open_trace` reads every format that `milepost trace inspect` knows.
from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from calibration.catalogue import open_profile
from policies.admission.always import Always
from policies.eviction.lru import Lru
from policies.placement import PLACERS
from policies.placement.base import BasePlacer
from reports import Study
from reports.compare import compare_folders
from simulator import Scenario, simulate
from simulator.plugins.protocols import Placer, Prefix, Window
from simulator.trace.trace import Trace
from workloads import open_trace
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.store import save
from workloads.synthetic import read_generator

temporary = tempfile.TemporaryDirectory(prefix="milepost-")
folder = Path(temporary.name)
questions = read_generator("documents:count=20")
save(questions.trace(500, 1, Poisson(5.0), read_drift("")), folder / "questions.parquet")
trace = open_trace(folder / "questions.parquet")
print(f"{len(trace):,} requests, {trace.prompt_tokens.sum():,} prompt tokens")


# %% One simulation. Policies learn, so a scenario is told what makes them.
def hit_rate(trace: Trace, placer: Callable[[], Placer], capacity_bytes: int) -> float:
    """Return the token hit rate after a tenth of warm-up."""
    scenario = Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=placer,
        eviction=Lru,
        admission=Always,
        capacity_bytes=capacity_bytes,
    )
    rows = simulate(trace, scenario).rows_after(0.1)
    return float(rows["saved_tokens"].sum() / rows["prompt_tokens"].sum())


GIB = 1 << 30
for name in ("last", "branch", "adaptive"):
    print(f"{name}: {hit_rate(trace, PLACERS[name], 8 * GIB):.1%} of the tokens are saved")


# %% A placer of one's own is a class with one method.
class Thirds(BasePlacer):
    """Store states after one and two thirds of the prompt."""

    source = "an example"

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return those that lie behind the resume point."""
        thirds = (prefix.prompt_tokens // 3, 2 * prefix.prompt_tokens // 3)
        return [position for position in thirds if position > prefix.resume]


print(f"thirds: {hit_rate(trace, Thirds, 8 * GIB):.1%}")

# %% A study: every combination, with replications. The same keys as in a study file.
study = Study(
    {
        "title": "Placers on shared documents",
        "workload": {"generator": "documents:count=20", "requests": 300},
        "study": {"replications": 3, "warmup": 0.1, "baseline": "last"},
        "grid": {"policy.placer": ["last", "branch"], "cache.capacity": ["4 GiB", "16 GiB"]},
    }
)
print(study.plan())
results = study.run(folder / "lru")

# %% Its cells are a polars DataFrame; the page is written, and can be written again.
rates = results.cells.group_by("placer", "capacity_bytes", maintain_order=True).agg(
    pl.col("token_hit_rate").mean(), pl.col("ttft_mean_seconds").mean()
)
print(rates)
print(results.write_page().relative_to(folder))

# %% The same study with another eviction policy, compared cell by cell.
study.with_settings({"policy.eviction": "fifo"}).run(folder / "fifo")
runs = compare_folders(folder / "lru", folder / "fifo")
print([change.key for change in runs.changes])
for compared in runs.comparisons:
    if compared.measure.name == "token_hit_rate" and compared.difference:
        placer, capacity_bytes = compared.place.values()
        points = 100 * compared.difference.value
        print(f"{placer}, {capacity_bytes / GIB:g} GiB: {points:+.1f} points, {compared.verdict}")

# %% Nothing is left.
temporary.cleanup()
