"""The measurement loop: measures a plan within a time budget and records every result at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from calibration.clock import CallClock
from calibration.estimate import TimeEstimate, at_most, core_of, fit_budget
from calibration.journal import MeasurementJournal
from calibration.measure.copies import CopyTimer
from calibration.measure.graphs import GraphTimer
from calibration.measure.passes import PassTimer
from calibration.models.hybrid import HybridModel
from calibration.paced_run import ItemTimer, MeasuringProgress, PacedRun
from calibration.plan import Item, PlanBlock


class Bench:
    """A timer for all kinds of measurements on one model and device.

    Parameters
    ----------
    model, clock, warm_ups, seed
        See `PassTimer`.
    folder
        See `CopyTimer`.
    """

    def __init__(
        self, model: HybridModel, clock: CallClock, *, warm_ups: int, seed: int, folder: Path
    ) -> None:
        self._passes = PassTimer(model, clock, warm_ups, seed)
        self._copies = CopyTimer(str(model.device), clock, folder)
        self._graphs = GraphTimer(model, clock, seed)

    def seconds(self, item: Item) -> float:
        """Measure an item once and return its seconds."""
        if item.kind == "copy":
            return self._copies.seconds(item)
        if item.kind == "graph":
            return self._graphs.seconds(item)
        if item.kind != "overlap":
            return self._passes.seconds(item)
        beside = self._copies.beside(item)
        seconds = self._passes.seconds(item, beside)
        torch.cuda.synchronize()  # the copy may end later and needs its buffers
        return seconds

    def release(self) -> None:
        """Free KV buffers, graphs and files."""
        self._passes.release()
        self._graphs.release()
        self._copies.release()
        free_cached()


def measure_all(
    blocks: Sequence[PlanBlock],
    bench: ItemTimer,
    journal: MeasurementJournal,
    estimate: TimeEstimate,
    *,
    budget_seconds: float | None = None,
    seed: int = 0,
    progress: MeasuringProgress | None = None,
    now: Callable[[], float] = time.perf_counter,
) -> list[str]:
    """Measure all blocks of a plan that fit into the budget, and record every repetition.

    Items in the journal are not measured again; time spent by earlier runs counts against the
    budget. The core items, which a profile requires, come first, once, to learn how fast the
    machine is and so how much else fits. The time estimate is updated after every repetition.

    Parameters
    ----------
    blocks
        In order of importance.
    bench, journal, estimate
        The timer, the record of measurements, and the initial time estimate.
    budget_seconds
        Wall time; None for unlimited.
    seed
        Seed for the order of repetitions.
    progress
        Where to report progress.
    now
        Returns wall time in seconds.

    Returns
    -------
    list of str
        What was omitted or shortened for lack of time, one sentence each.

    Raises
    ------
    BudgetError
        If the budget ends before the core items are measured.
    """
    run = PacedRun(bench, journal, estimate, budget_seconds, progress or MeasuringProgress(), now)
    run.recall(blocks)
    done: list[PlanBlock] = []
    try:
        if budget_seconds is not None:
            run.core([at_most(core_of(block), 1) for block in blocks if block.core])
        for index, block in enumerate(blocks):
            if block.essential and budget_seconds is not None:
                run.block(run.fewest(block, blocks[index + 1 :]), blocks[index + 1 :], seed + index)
            fitting = fit_budget(blocks[index:], run.costs, run.left_with(block))
            chosen = next((other for other in fitting if other.name == block.name), None)
            if chosen is not None:
                done.append(chosen)
                run.block(chosen, fitting[1:], seed + index)
    finally:
        bench.release()
    return _left_out(blocks, done)


def free_cached() -> None:
    """Release memory that torch has cached on the device."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _left_out(blocks: Sequence[PlanBlock], done: Sequence[PlanBlock]) -> list[str]:
    """Describe which measurements were omitted, or repeated less often, for lack of time."""
    notes = []
    kept = {block.name: block for block in done}
    for block in blocks:
        measured = kept.get(block.name, replace(block, items=(), repetitions=block.repetitions))
        missing = len(block.items) - len(measured.items)
        if missing:
            notes.append(f"no time for {missing} of {len(block.items)} points of '{block.name}'")
        elif measured.repetitions < block.repetitions:
            fewer = f"{measured.repetitions} repetitions instead of {block.repetitions}"
            notes.append(f"'{block.name}': {fewer}, for want of time")
    return notes
