"""Speed of sweeps: cells per minute, scaling to two workers, and the page of 1,000 cells.

A cell is one simulation of a study. `SWEEP_CELLS=1000 make bench` runs the whole study; by default
a sample is run, and `minutes_for_1000` extrapolates to 1,000 cells.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from reports.artifacts.journal import Journal
from reports.execution.executors import run_tasks
from reports.execution.sweep import CellTask, simulate_cell
from reports.study.cells import expand
from reports.study.layers import read_settings
from reports.study.settings import Settings
from reports.study.traces import store_trace

CELLS = int(os.environ.get("SWEEP_CELLS", "24"))
STUDY = """
[study]
warmup = 0.1
[grid]
"policy.placer" = [
    "none", "last", "dense", "block:size=2048", "block:size=4096", "block:size=8192",
    "block:size=16384", "balanced:budget=1", "balanced:budget=2", "balanced:budget=4",
    "balanced:budget=8", "dyadic", "dyadic:first=1024", "dyadic:first=2048", "offsets:start=4096",
    "interval:every=4096", "interval:every=8192", "from_end:offsets=256", "from_end:offsets=512",
    "from_end:offsets=1024",
]
"""
CAPACITIES = [*(f"{16 * 1.11**step:.1f} GiB" for step in range(49)), "unbounded"]


@pytest.fixture(scope="module")
def settings(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    path = tmp_path_factory.mktemp("study") / "study.toml"
    path.write_text(STUDY)
    trace = str(shared / "data/mooncake/conversation_trace.jsonl.gz")
    given = (("workload.trace", trace, "here"), ("grid.cache.capacity", CAPACITIES, "here"))
    return read_settings(path, given)


@pytest.fixture(scope="module")
def tasks(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> list[CellTask]:
    cells = expand(settings)[1]
    stored = store_trace(cells[0].study, cells[0].seed, tmp_path_factory.mktemp("traces"))
    step = max(len(cells) // CELLS, 1) | 1  # odd, so that every placer and capacity is sampled
    return [CellTask(cell, *stored) for cell in cells[::step]][:CELLS]


def swept(tasks: list[CellTask], jobs: int, folder: Path) -> float:
    """Return the seconds it takes to simulate the tasks and write their cells to the journal."""
    began = time.perf_counter()
    with Journal(folder, "benchmark") as journal:
        for outcome in run_tasks(simulate_cell, tasks, jobs):
            journal.write(outcome)
            assert outcome.error is None
    return time.perf_counter() - began


def test_expanding_a_thousand_cells(benchmark, settings):
    assert len(benchmark.pedantic(expand, (settings,), rounds=3, warmup_rounds=1)[1]) == 1000


def test_one_worker_and_two(benchmark, tasks, tmp_path):
    alone = swept(tasks, 1, tmp_path / "1")
    began = time.perf_counter()
    benchmark.pedantic(swept, (tasks, 2, tmp_path / "2"), rounds=1)
    shared_by_two = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    benchmark.extra_info.update(
        cells=len(tasks),
        minutes_for_1000=round(shared_by_two / len(tasks) * 1000 / 60, 2),
        parallel_efficiency=round(alone / shared_by_two / 2, 3),
        worker_mib_at_most=round(most),
    )


def test_what_a_cell_costs_beside_its_simulation(benchmark, tasks, monkeypatch):
    from simulator import simulation

    inside = 0.0
    simulate = simulation.simulate

    def timed(*arguments):
        nonlocal inside
        began = time.process_time()
        result = simulate(*arguments)
        inside += time.process_time() - began
        return result

    monkeypatch.setattr(simulation, "simulate", timed)
    few = tasks[:8]
    simulate_cell(few[0])
    inside, began = 0.0, time.process_time()
    benchmark.pedantic(lambda: [simulate_cell(task) for task in few], rounds=1)
    whole = time.process_time() - began
    benchmark.extra_info.update(
        share_beside_simulation=round(1 - inside / whole, 4),
        milliseconds_a_cell=round(1000 * (whole - inside) / len(few), 1),
    )


def test_page_of_a_thousand_cells(benchmark):
    from tests.reports.pages.rendering import render_study
    from tests.reports.sample_study import sample

    sizes = [round(2**30 * 1.11**step) for step in range(50)]
    placers = [f"block:size={512 * number}" for number in range(1, 21)]
    cells, manifest = sample(placers, sizes, replications=1, baseline=placers[0])
    manifest["trace"] |= {"deterministic": True}
    page = benchmark.pedantic(render_study, (cells, manifest), rounds=1, warmup_rounds=0)
    benchmark.extra_info["megabytes"] = round(len(page.encode()) / 1e6, 2)
