"""One calibration run: measures the blocks of a plan within a time budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from calibration.estimate import Costs, Learned, TimeEstimate, at_most, core_of, fit_budget
from calibration.journal import MeasurementJournal
from calibration.measure.graphs import NotCapturableError
from calibration.plan import FEWEST_REPETITIONS, Item, PlanBlock

SAY_EVERY_SECONDS = 5.0
KNOWN_PACE_ITEMS = 4  # after this many items the machine's speed is considered known
_NO_MEMORY = ("allocate memory", "out of memory", "_ALLOC_FAILED")


class BudgetError(Exception):
    """The time budget is too short for a profile; about `missing_seconds` more are needed."""

    def __init__(self, missing_seconds: float) -> None:
        super().__init__(f"{missing_seconds:.0f} s are missing")
        self.missing_seconds = missing_seconds


class ItemTimer(Protocol):
    """Interface of a timer that measures the items of a calibration plan."""

    def seconds(self, item: Item) -> float:
        """Measure an item once and return its seconds."""

    def release(self) -> None:
        """Free memory, after a block or when memory runs out."""


@dataclass(slots=True)
class MeasuringProgress:
    """Reports progress and remaining time of a calibration on stderr, at most every 5 seconds."""

    last: float = 0.0

    def say(
        self,
        block: str,
        needed_seconds: Callable[[], float],
        spent_seconds: float,
        budget_left_seconds: float | None,
    ) -> None:
        """Print one line if the last one is old enough; `needed_seconds` is called only then."""
        now = time.monotonic()
        if now - self.last >= SAY_EVERY_SECONDS:
            self.last = now
            needed, left = needed_seconds(), budget_left_seconds
            text = f"{block}: {spent_seconds:.0f} s done, about {needed:.0f} s to go"
            if left is not None and left < needed:
                text += f", of which the budget has {max(left, 0):.0f} s"
            print(text, file=sys.stderr, flush=True)


@dataclass(slots=True)
class PacedRun:
    """The state of a calibration run: measurements, time spent, and time left."""

    bench: ItemTimer
    journal: MeasurementJournal
    estimate: TimeEstimate
    budget_seconds: float | None
    progress: MeasuringProgress
    now: Callable[[], float]
    expected: float = 0.0
    taken: float = 0.0

    @property
    def left_seconds(self) -> float | None:
        """Remaining budget in seconds, None if unlimited."""
        if self.budget_seconds is None:
            return None
        return self.budget_seconds - self.journal.spent_seconds

    @property
    def costs(self) -> Costs:
        """Estimated times of measurements, corrected by those made so far."""
        return Learned(self.estimate, self.pace, self.journal.last_spent)

    def left_with(self, block: PlanBlock) -> float | None:
        """Return the remaining budget plus what a block has used so far, None if unlimited."""
        left, costs, known = self.left_seconds, self.costs, self.journal.seconds
        if left is None:
            return None
        return left + sum(
            costs.once_seconds(item) * len(known.get(item.name, ())) for item in block.items
        )

    def core(self, blocks: Sequence[PlanBlock]) -> None:
        """Measure each core item, which a profile requires, once.

        Raises
        ------
        BudgetError
            If the budget does not suffice.
        """
        missing = [item for block in blocks for item in block.items if not self._is_known(item)]
        for done, item in enumerate(missing):
            left = self.left_seconds or 0.0
            pace_is_known = len(self.journal.seconds) >= KNOWN_PACE_ITEMS
            if left <= 0 or (pace_is_known and self.costs.once_seconds(item) > left):
                raise BudgetError(self._waiting_seconds(missing[done:]) - left)
            self._once(item)
            self._say("core", missing[done + 1 :], ())
        self.bench.release()

    def _waiting_seconds(self, items: Sequence[Item]) -> float:
        """Return the estimated seconds to measure each of `items` once."""
        return sum(map(self.costs.once_seconds, items))

    def _is_known(self, item: Item) -> bool:
        """Tell whether an item was measured, or found not to be measurable."""
        return item.name in self.journal.seconds or item.name in self.journal.skipped

    def fewest(self, block: PlanBlock, later: Sequence[PlanBlock]) -> PlanBlock:
        """Return the items of an essential block that can be repeated at least three times."""
        few = [at_most(each, FEWEST_REPETITIONS) for each in (block, *later) if each.essential]
        return fit_budget(few, self.costs, self.left_with(block))[0]

    def recall(self, blocks: Sequence[PlanBlock]) -> None:
        """Restore the ratio of actual to estimated time from measurements in the journal."""
        self.expected = sum(map(self._expected_seconds, blocks))
        self.taken = self.journal.timing_seconds

    def _expected_seconds(self, block: PlanBlock) -> float:
        """Return the estimated time of a block's repetitions that are in the journal."""
        known = self.journal.seconds
        return sum(
            self.estimate.once_seconds(item) * len(known.get(item.name, ())) for item in block.items
        )

    @property
    def pace(self) -> float:
        """Ratio of actual to estimated time of all repetitions so far."""
        return self.taken / self.expected if self.expected else 1.0

    def block(self, block: PlanBlock, later: Sequence[PlanBlock], seed: int) -> None:
        """Measure the missing repetitions of a block, in shuffled order."""
        missing = [
            item
            for item in block.items
            for _ in range(block.repetitions - len(self.journal.seconds.get(item.name, ())))
        ]
        order = [missing[at] for at in np.random.default_rng(seed).permutation(len(missing))]
        for done, item in enumerate(order, 1):
            reserved = sum(map(self.costs.block_seconds, map(core_of, later)))
            if item.name not in self.journal.skipped and self._has_time_for(item, reserved):
                self._once(item)
            self._say(block.name, order[done:], later)
        self.bench.release()

    def _say(self, name: str, waiting: Sequence[Item], later: Sequence[PlanBlock]) -> None:
        """Report progress and the estimated remaining time."""

        def needed_seconds() -> float:
            return self._waiting_seconds(waiting) + sum(map(self.costs.block_seconds, later))

        self.progress.say(name, needed_seconds, self.journal.spent_seconds, self.left_seconds)

    def _has_time_for(self, item: Item, reserved_seconds: float) -> bool:
        """Tell whether the budget allows one more repetition besides `reserved_seconds`."""
        left = self.left_seconds
        return left is None or left >= reserved_seconds + self.costs.once_seconds(item)

    def _once(self, item: Item) -> None:
        """Measure an item once, or record why it cannot be measured."""
        start = self.now()
        try:
            seconds = self.bench.seconds(item)
        except (NotCapturableError, RuntimeError) as error:
            if not isinstance(error, NotCapturableError) and not out_of_memory(error):
                raise
            self.bench.release()
            reason = str(error) if isinstance(error, NotCapturableError) else "out of memory"
            self.journal.add_skipped(item.name, reason, self.now() - start)
            return
        spent = self.now() - start
        self.journal.add_seconds(item.name, seconds, spent)
        self.expected += self.estimate.once_seconds(item)
        self.taken += spent


def out_of_memory(error: RuntimeError) -> bool:
    """Tell whether an error of torch means that memory ran out, on the device or the host.

    Besides `torch.OutOfMemoryError`, libraries that torch calls raise errors of other classes.
    """
    message = str(error)
    return isinstance(error, torch.OutOfMemoryError) or any(sign in message for sign in _NO_MEMORY)
