"""The timings of a calibration, in the form that the fit needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.fit.points import Points, Typical
from calibration.journal import MeasurementJournal
from calibration.plan import Item, PlanBlock

_MICRO = 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of a calibration and their plan.

    Parameters
    ----------
    journal
        All timings.
    blocks
        The complete plan.
    typical
        Which of repeated times is used.
    device_kind
        "cpu" or "cuda".
    groups
        Number of layer groups in the model if one was measured; 1 if the whole model was.
    warnings
        Warnings so far.
    """

    journal: MeasurementJournal
    blocks: Sequence[PlanBlock]
    typical: Typical
    device_kind: str
    groups: int
    warnings: tuple[str, ...] = ()

    def items(self, kind: str) -> list[Item]:
        """Return the items of a kind (such as "decode") that have measurements."""
        return [
            item
            for block in self.blocks
            for item in block.items
            if item.kind == kind and self.journal.seconds.get(item.name)
        ]

    def points(self, kind: str) -> Points:
        """Return the timed prefills of a kind, scaled to the whole model.

        If points have different numbers of repetitions, those with fewer are padded by quantiles.
        """
        items = self.items(kind)
        times = [self.journal.seconds[item.name] for item in items]
        most = max(map(len, times), default=1)
        shares = np.linspace(0, 1, most)
        table = [timed if len(timed) == most else np.quantile(timed, shares) for timed in times]
        return Points(
            c=np.array([item.c for item in items], dtype=np.int64),
            n=np.array([item.n for item in items], dtype=np.int64),
            seconds=np.array(table).reshape(len(items), most) * self.groups,
            typical=self.typical,
        )

    def typical_us(self, item: Item) -> float:
        """Return an item's median or minimum time in microseconds, for one layer group."""
        times = self.journal.seconds[item.name]
        seconds = min(times) if self.typical == "minimum" else float(np.median(times))
        return seconds * _MICRO
