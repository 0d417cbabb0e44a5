"""Estimates how long measurements take, and selects those that fit into a time budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from calibration.plan import FEWEST_REPETITIONS, Item, PlanBlock
from simulator.costs.geometry import Geometry

# Conservative rates of a device, and the launch time of a layer. The first measurements correct
# them, so only the ratios between items need to be right.
_FLOPS_PER_SECOND = {"cuda": 1.5e14, "cpu": 2e10}
_LAYER_SECONDS = {"cuda": 4e-4, "cpu": 3e-3}
_CHUNK_SECONDS = {"cuda": 5e-5, "cpu": 3e-4}  # one chunk of the recurrent scan in one layer
_BYTES_PER_SECOND = 1e9
_FIXED_SECONDS = {"cuda": 45.0, "cpu": 10.0}  # imports, building the model, exactness check
ESSENTIAL_SHARE = 2 / 3
_AROUND = 1.3  # overhead of preparing a timed call, as a factor


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Estimated wall time of measurements, for one model on one kind of device.

    Parameters
    ----------
    geometry
        Geometry of the model that is run.
    device
        "cpu" or "cuda".
    warm_ups
        Untimed calls before the first timed one of an item.
    """

    geometry: Geometry
    device: str
    warm_ups: int = 1

    @property
    def fixed_seconds(self) -> float:
        """Seconds of setup before the first measurement."""
        return _FIXED_SECONDS[self.device]

    def once_seconds(self, item: Item) -> float:
        """Return the estimated seconds to measure an item once."""
        if item.kind == "copy":
            return item.size_bytes / _BYTES_PER_SECOND
        context, seconds = item.c, 0.0
        for n in item.pieces:
            seconds += self._pass_seconds(context, n, item.batch)
            context += n
        return _AROUND * seconds

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the estimated seconds of all repetitions and warm-ups of a block of items."""
        times = block.repetitions + self.warm_ups
        return times * sum(self.once_seconds(item) for item in block.items)

    def _pass_seconds(self, c: int, n: int, batch: int) -> float:
        """Return the seconds of one forward pass over `n` tokens after a context of `c`."""
        shape = self.geometry
        recurrent = shape.recurrent.layers
        layers = recurrent + shape.attention.layers
        flops = shape.linear_flops_per_token * n + shape.attention.pair_flops * n * (c + n / 2)
        fixed = layers * _LAYER_SECONDS[self.device]
        chunks = recurrent * -(-n // shape.recurrent.chunk) * _CHUNK_SECONDS[self.device]
        return fixed + chunks + batch * flops / _FLOPS_PER_SECOND[self.device]


class Costs(Protocol):
    """Interface of time estimates for measurements (items) and blocks of them."""

    def once_seconds(self, item: Item) -> float:
        """Return the estimated seconds to measure an item once."""

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the estimated seconds of all repetitions and warm-ups of a block of items."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A time estimate corrected by measurements.

    An item that was measured before is expected to take as long as its last repetition.

    Parameters
    ----------
    estimate
        The initial estimate.
    pace
        Ratio of actual to estimated time so far.
    spent_seconds
        Time of the last repetition, by item name.
    """

    estimate: TimeEstimate
    pace: float
    spent_seconds: Mapping[str, float]

    def once_seconds(self, item: Item) -> float:
        """Return the estimated seconds to measure an item once."""
        known = self.spent_seconds.get(item.name)
        return self.pace * self.estimate.once_seconds(item) if known is None else known

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the estimated seconds of all repetitions and warm-ups of a block of items."""
        times = block.repetitions + self.estimate.warm_ups
        return times * sum(map(self.once_seconds, block.items))


def fit_budget(
    blocks: Sequence[PlanBlock], estimate: Costs, left_seconds: float | None
) -> list[PlanBlock]:
    """Return the blocks of measurements that fit into the remaining time, in order of importance.

    Repetitions are reduced, to at least three, until the essential blocks take at most two thirds
    of the time. The core items of all blocks, which a profile requires, are always kept; further
    items are kept while they fit, in order.

    Parameters
    ----------
    blocks
        In order of importance.
    estimate
        Estimated times.
    left_seconds
        Remaining time; None for unlimited.
    """
    if left_seconds is None:
        return list(blocks)
    essential = [block for block in blocks if block.essential]
    most = max((block.repetitions for block in essential), default=FEWEST_REPETITIONS)
    while most > FEWEST_REPETITIONS:
        taken = sum(estimate.block_seconds(at_most(block, most)) for block in essential)
        if taken <= ESSENTIAL_SHARE * left_seconds:
            break
        most -= 1
    return _first_ones([at_most(block, most) for block in blocks], estimate, left_seconds)


def at_most(block: PlanBlock, repetitions: int) -> PlanBlock:
    """Return a block of measurements with at most `repetitions` repetitions."""
    return replace(block, repetitions=min(block.repetitions, repetitions))


def core_of(block: PlanBlock) -> PlanBlock:
    """Return a block with only its core: the measurements that a profile requires."""
    return replace(block, items=block.items[: block.core])


def _first_ones(blocks: Sequence[PlanBlock], estimate: Costs, seconds: float) -> list[PlanBlock]:
    """Return the core measurements of each block, and further ones in order while they fit."""
    left = seconds - sum(estimate.block_seconds(core_of(block)) for block in blocks)
    kept = []
    for block in blocks:
        items = list(block.items[: block.core])
        for item in block.items[block.core :]:
            left -= estimate.block_seconds(replace(block, items=(item,)))
            if left >= 0:
                items.append(item)
        if items:
            kept.append(replace(block, items=tuple(items)))
    return kept
