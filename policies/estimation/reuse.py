"""How often something is used again, by what kind of thing it is."""

from __future__ import annotations

from collections.abc import Hashable

RESCALE = 1e12


class ReuseRates:
    """Uses for each trial, by key; recent ones count more, and labels shrink to all labels.

    A trial is counted when a thing comes into being, a use when it serves. Both decay alike, so
    that in a steady state the ratio has no bias, however long a use takes to come::

        all labels:  (uses + 1/2) / (trials + 1)
        one label:   (uses + SHRINKAGE * all) / (trials + SHRINKAGE)

    A key without a trial has the rate 1/2: what is unknown is tried.

    Parameters
    ----------
    decay
        Weight that a trial keeps from one `tick` to the next, above 0 and below 1.
    """

    SHRINKAGE = 8.0  # trials of one label that weigh as much as all others together

    def __init__(self, decay: float = 0.999) -> None:
        self._decay = decay
        self._unit = 1.0  # weight of what comes now: old cells stay as they are
        self._cells: dict[Hashable, list[float]] = {}  # key -> trials, uses

    def tick(self) -> None:
        """Let all that was counted so far fade by one step."""
        self._unit /= self._decay
        if self._unit > RESCALE:
            for cell in self._cells.values():
                cell[0] /= self._unit
                cell[1] /= self._unit
            self._unit = 1.0

    def trial(self, key: Hashable, label: int = -1) -> None:
        """Count a trial of a key, and of its label where that is known."""
        cell = self._cells.get(key) or self._new(key)
        cell[0] += self._unit
        if label >= 0:
            cell = self._cells.get((key, label)) or self._new((key, label))
            cell[0] += self._unit

    def use(self, key: Hashable, label: int = -1) -> None:
        """Count a use of a key, and of its label where that is known."""
        cell = self._cells.get(key) or self._new(key)
        cell[1] += self._unit
        if label >= 0:
            cell = self._cells.get((key, label)) or self._new((key, label))
            cell[1] += self._unit

    def rate(self, key: Hashable, label: int = -1) -> float:
        """Return the uses to expect of one trial."""
        unit = self._unit
        cell = self._cells.get(key)
        if cell is None:
            return 0.5
        rate = (cell[1] + 0.5 * unit) / (cell[0] + unit)
        own = self._cells.get((key, label)) if label >= 0 else None
        if own is None:
            return rate
        prior = self.SHRINKAGE * unit
        return (own[1] + prior * rate) / (own[0] + prior)

    def _new(self, key: Hashable) -> list[float]:
        cell = self._cells[key] = [0.0, 0.0]
        return cell
