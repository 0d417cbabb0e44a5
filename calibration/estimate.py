"""How long a measurement will take, before it is made, and what fits into a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from calibration.plan import FEWEST_REPETITIONS, Item, PlanBlock
from simulator.costs.geometry import Geometry

# What a device reaches, low rather than high, and what a layer's launches take. The first
# measurements correct them: only the proportion of one item to another has to hold.
_FLOPS_PER_SECOND = {"cuda": 1.5e14, "cpu": 2e10}
_LAYER_SECONDS = {"cuda": 4e-4, "cpu": 3e-3}
_CHUNK_SECONDS = {"cuda": 5e-5, "cpu": 3e-4}  # one chunk of the recurrence, in one layer
_BYTES_PER_SECOND = 1e9
_FIXED_SECONDS = {"cuda": 45.0, "cpu": 10.0}  # imports, building, the gate
ESSENTIAL_SHARE = 2 / 3
_AROUND = 1.3  # what is done around a timed call, as a factor


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Expected wall seconds of items for one model on one kind of device.

    Parameters
    ----------
    geometry
        Of what is built.
    device
        "cpu" or "cuda".
    warm_ups
        Calls before the first timed one of an item.
    """

    geometry: Geometry
    device: str
    warm_ups: int = 1

    @property
    def fixed_seconds(self) -> float:
        """What is spent before the first item."""
        return _FIXED_SECONDS[self.device]

    def once_seconds(self, item: Item) -> float:
        """Return the seconds of one repetition."""
        if item.kind == "copy":
            return item.size_bytes / _BYTES_PER_SECOND
        context, seconds = item.c, 0.0
        for n in item.pieces:
            seconds += self._pass_seconds(context, n, item.batch)
            context += n
        return _AROUND * seconds

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the seconds of all repetitions and warm-ups of a block."""
        times = block.repetitions + self.warm_ups
        return times * sum(self.once_seconds(item) for item in block.items)

    def _pass_seconds(self, c: int, n: int, batch: int) -> float:
        shape = self.geometry
        recurrent = shape.recurrent.layers
        layers = recurrent + shape.attention.layers
        flops = shape.linear_flops_per_token * n + shape.attention.pair_flops * n * (c + n / 2)
        fixed = layers * _LAYER_SECONDS[self.device]
        chunks = recurrent * -(-n // shape.recurrent.chunk) * _CHUNK_SECONDS[self.device]
        return fixed + chunks + batch * flops / _FLOPS_PER_SECOND[self.device]


class Costs(Protocol):
    """Tells the wall seconds of items."""

    def once_seconds(self, item: Item) -> float:
        """Return the seconds of one repetition."""

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the seconds of all repetitions and warm-ups of a block."""


@dataclass(frozen=True, slots=True)
class Learned:
    """An estimate that is corrected by what items took: each by its own time where that is known.

    Parameters
    ----------
    estimate
        Before anything was measured.
    pace
        What items took so far over what was expected of them.
    spent_seconds
        What the last repetition of an item took, by the item's name.
    """

    estimate: TimeEstimate
    pace: float
    spent_seconds: Mapping[str, float]

    def once_seconds(self, item: Item) -> float:
        """Return the seconds of one repetition."""
        known = self.spent_seconds.get(item.name)
        return self.pace * self.estimate.once_seconds(item) if known is None else known

    def block_seconds(self, block: PlanBlock) -> float:
        """Return the seconds of all repetitions and warm-ups of a block."""
        times = block.repetitions + self.estimate.warm_ups
        return times * sum(map(self.once_seconds, block.items))


def fit_budget(
    blocks: Sequence[PlanBlock], estimate: Costs, left_seconds: float | None
) -> list[PlanBlock]:
    """Return the blocks that fit into the time left, the first ones first.

    Repetitions go down, to three at the least, until the essential blocks take no more than
    two thirds of the time. Their cores stay in any case; of all else stays what then fits, in
    order.

    Parameters
    ----------
    blocks
        In order of importance.
    estimate
        Of their time.
    left_seconds
        The budget; None sets none.
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
    """Return a block with no more repetitions than that."""
    return replace(block, repetitions=min(block.repetitions, repetitions))


def core_of(block: PlanBlock) -> PlanBlock:
    """Return the items of a block without which there is no profile."""
    return replace(block, items=block.items[: block.core])


def _first_ones(blocks: Sequence[PlanBlock], estimate: Costs, seconds: float) -> list[PlanBlock]:
    """Return the core of all blocks, and of the other items what then fits, in order."""
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
