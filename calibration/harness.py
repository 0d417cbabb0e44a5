"""The loop: measures what a plan asks for, writes it down as it comes, keeps to the budget."""

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
    """Everything that times, on one model and device.

    Parameters
    ----------
    model, clock, warm_ups, seed
        As for `PassTimer`.
    folder
        As for `CopyTimer`.
    """

    def __init__(
        self, model: HybridModel, clock: CallClock, *, warm_ups: int, seed: int, folder: Path
    ) -> None:
        self._passes = PassTimer(model, clock, warm_ups, seed)
        self._copies = CopyTimer(str(model.device), clock, folder)
        self._graphs = GraphTimer(model, clock, seed)

    def seconds(self, item: Item) -> float:
        """Return the seconds of one repetition."""
        if item.kind == "copy":
            return self._copies.seconds(item)
        if item.kind == "graph":
            return self._graphs.seconds(item)
        if item.kind != "overlap":
            return self._passes.seconds(item)
        beside = self._copies.beside(item)
        seconds = self._passes.seconds(item, beside)
        torch.cuda.synchronize()  # the copy may end later, and needs its buffers until then
        return seconds

    def release(self) -> None:
        """Let go of KV, graphs and files."""
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
    """Measure all blocks that the budget has time for, and write every repetition down.

    What the journal has is not measured again, and what earlier runs spent counts towards the
    budget. The core of the essential blocks comes first, once: it shows how fast the machine
    really is, and so what else there is time for. What is to come is estimated anew with every
    repetition.

    Parameters
    ----------
    blocks
        In order of importance.
    bench, journal, estimate
        What times, where it goes, and how long it may take.
    budget_seconds
        Wall time; None sets none.
    seed
        Of the order of repetitions.
    progress
        Where to say how far it is.
    now
        Wall time.

    Returns
    -------
    list of str
        What was left out or cut short for want of time, one sentence each.

    Raises
    ------
    BudgetError
        If the budget ends before the core has been measured.
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
    """Give memory that torch holds for later back to the device."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _left_out(blocks: Sequence[PlanBlock], done: Sequence[PlanBlock]) -> list[str]:
    """Name the items that the budget had no time for, and fewer repetitions."""
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
