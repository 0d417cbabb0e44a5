from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.estimate import Learned, TimeEstimate, core_of, fit_budget
from calibration.fit.fit import fit_form
from calibration.fit.points import Points
from calibration.plan import CPU_GRID, CUDA_GRID, MeasuringGrid, blocks_of, held_out
from simulator.costs.geometry import MODELS

NINE = MODELS["qwen3.5-9b"]


def names(grid: MeasuringGrid) -> list[str]:
    return [block.name for block in blocks_of(grid, NINE.state_bytes, 0)]


def test_blocks_come_in_order_of_importance() -> None:
    middle = ["cuts", "batches", "overlap"]
    assert names(CUDA_GRID) == [
        *("prefill", "copies", "decode", "graphs"),
        *middle,
        "rest of the grid",
    ]
    assert "graphs" not in names(CPU_GRID)
    assert "overlap" not in names(CPU_GRID)


@pytest.mark.parametrize("grid", [CPU_GRID, CUDA_GRID])
def test_every_item_is_measured_once_and_has_its_own_name(grid: MeasuringGrid) -> None:
    items = [item for block in blocks_of(grid, NINE.state_bytes, 0) for item in block.items]
    assert len({item.name for item in items}) == len(items)
    points = {(item.c, item.n) for item in items if item.kind == "prefill"}
    assert points == {
        *((0, n) for n in grid.tokens),
        *((c, n) for c in grid.contexts for n in (*grid.tokens, *grid.swept)),
    }


def test_one_token_without_context_is_left_out() -> None:
    # It has no state to go on from, so it would not run the kernel that one token has.
    items = [item for block in blocks_of(CPU_GRID, 1, 0) for item in block.items]
    assert not [item for item in items if item.n == 1 and item.c == 0]


def test_held_out_points_lie_within_the_grid_and_beside_its_points() -> None:
    for seed in range(20):
        chosen = held_out(CUDA_GRID, seed)
        assert chosen == held_out(CUDA_GRID, seed)
        assert len(chosen) == 24
        for item in chosen:
            assert 2 <= item.n <= max(CUDA_GRID.tokens)
            assert item.n not in CUDA_GRID.tokens
            assert 0 <= item.c <= max(CUDA_GRID.contexts)
    assert held_out(CUDA_GRID, 0) != held_out(CUDA_GRID, 1)


def test_a_model_of_few_positions_shortens_the_grid() -> None:
    grid = CUDA_GRID.within(4096)
    assert max(grid.tokens) == 4096
    assert max(grid.contexts) == 1024
    for block in blocks_of(grid, 1, 0):
        for item in block.items:
            if item.kind == "prefill" and item.n in grid.swept:
                assert item.c + item.n <= 4096


def test_no_budget_leaves_the_plan_as_it_is() -> None:
    blocks, estimate = blocks_of(CUDA_GRID, 1, 0), TimeEstimate(NINE, "cuda", 3)
    assert fit_budget(blocks, estimate, None) == blocks
    assert fit_budget(blocks, estimate, 1e6) == blocks


@pytest.mark.parametrize("seconds", [0.0, 30.0, 100.0, 200.0, 300.0, 500.0])
def test_a_budget_keeps_the_essential_and_then_what_fits_in_order(seconds: float) -> None:
    blocks, estimate = blocks_of(CUDA_GRID, 1, 0), TimeEstimate(NINE, "cuda", 3)
    fitting = fit_budget(blocks, estimate, seconds)
    essential = [block for block in blocks if block.essential]
    kept = {block.name: block for block in fitting}
    for block in essential:
        assert kept[block.name].items[: block.core] == block.items[: block.core]
        assert 3 <= kept[block.name].repetitions <= block.repetitions
    least = sum(estimate.block_seconds(replace(b, repetitions=3)) for b in essential)
    if seconds >= least:
        assert all(kept[block.name].items == block.items for block in essential)
        assert sum(map(estimate.block_seconds, fitting)) <= seconds
    order = [block.name for block in blocks]
    assert [block.name for block in fitting] == [name for name in order if name in kept]


def test_no_time_leaves_the_core_and_much_time_everything() -> None:
    blocks, estimate = blocks_of(CUDA_GRID, 1, 0), TimeEstimate(NINE, "cuda", 3)
    times = range(0, 1000, 50)
    counts = [sum(len(b.items) for b in fit_budget(blocks, estimate, s)) for s in times]
    assert counts[0] == sum(block.core for block in blocks)
    assert counts[-1] == sum(len(block.items) for block in blocks)


@pytest.mark.parametrize("grid", [CPU_GRID, CUDA_GRID])
def test_the_core_has_points_of_every_kind_far_apart(grid: MeasuringGrid) -> None:
    prefill, copies = blocks_of(grid, 1, 0)[:2]
    core = prefill.items[: prefill.core]
    own = [item.n for item in core if item.kind == "prefill" and not item.c]
    behind = [item for item in core if item.kind == "prefill" and item.c]
    assert {min(grid.tokens), max(grid.tokens)} <= set(own)
    assert len({item.c for item in behind}) > 1
    assert sum(item.kind == "held-out" for item in core) == 6
    ways = [item.way for item in copies.items[: copies.core]]
    assert all(ways.count(way) == 2 for way in {item.way for item in copies.items})


def test_an_item_that_was_measured_costs_what_it_took() -> None:
    estimate, item = TimeEstimate(NINE, "cpu", 1), blocks_of(CPU_GRID, 1, 0)[0].items[0]
    assert Learned(estimate, 3.0, {}).once_seconds(item) == 3.0 * estimate.once_seconds(item)
    assert Learned(estimate, 3.0, {item.name: 7.0}).once_seconds(item) == 7.0


def test_a_slow_machine_gets_less() -> None:
    blocks, estimate = blocks_of(CUDA_GRID, 1, 0), TimeEstimate(NINE, "cuda", 3)
    fast, slow = (fit_budget(blocks, Learned(estimate, pace, {}), 400.0) for pace in (1.0, 2.0))
    assert sum(len(b.items) * b.repetitions for b in slow) < sum(
        len(b.items) * b.repetitions for b in fast
    )


def test_the_9b_fits_ten_minutes_of_an_h200() -> None:
    blocks, estimate = blocks_of(CUDA_GRID, NINE.state_bytes, 0), TimeEstimate(NINE, "cuda", 3)
    expected = estimate.fixed_seconds + sum(map(estimate.block_seconds, blocks))
    assert expected < 600


@pytest.mark.parametrize("grid", [CPU_GRID, CUDA_GRID])
@pytest.mark.parametrize("seed", range(3))
def test_the_core_sets_every_coefficient(grid: MeasuringGrid, seed: int) -> None:
    core = core_of(blocks_of(grid, NINE.state_bytes, seed)[0])
    timed = [item for item in core.items if item.kind == "prefill"]
    c = np.array([item.c for item in timed])
    n = np.array([item.n for item in timed])
    form = fit_form(Points(c, n, (1e-3 + 1e-5 * n + 1e-9 * n * (c + n / 2) + 1e-8 * c)[:, None]))
    assert form.coefficients()[-2:] == pytest.approx([1e-9, 1e-8], rel=1e-3)
