"""The timings of a calibration, as the fit takes them."""

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
    """What a calibration has found, beside the plan.

    Parameters
    ----------
    journal
        All timings.
    blocks
        The whole plan.
    typical
        Which of several times counts.
    device_kind
        "cpu" or "cuda".
    groups
        Layer groups that the one that was timed stands for.
    warnings
        So far.
    """

    journal: MeasurementJournal
    blocks: Sequence[PlanBlock]
    typical: Typical
    device_kind: str
    groups: int
    warnings: tuple[str, ...] = ()

    def items(self, kind: str) -> list[Item]:
        """Return the items of a kind that were timed."""
        return [
            item
            for block in self.blocks
            for item in block.items
            if item.kind == kind and self.journal.seconds.get(item.name)
        ]

    def points(self, kind: str) -> Points:
        """Return the timed points of a kind, of the whole model.

        Where points were timed a different number of times, quantiles stand for the repetitions
        of those that were timed less often.
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
        """Return the time of one pass or copy that counts, in microseconds, as it was timed."""
        times = self.journal.seconds[item.name]
        seconds = min(times) if self.typical == "minimum" else float(np.median(times))
        return seconds * _MICRO
