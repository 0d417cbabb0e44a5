"""Rates of reuse of things of several kinds, with decaying counts."""

from __future__ import annotations

from typing import Final

RESCALE: Final = 1e12
SHRINKAGE: Final = 8.0  # trials of one label that weigh as much as the rate of all labels


class ReuseRates:
    """The rates of several kinds of things, whose counts decay at one pace.

    Parameters
    ----------
    decay
        Weight that a trial keeps from one `tick` to the next, above 0 and below 1.
    """

    def __init__(self, decay: float = 0.999) -> None:
        self._decay = decay
        self._rates: list[ReuseRate] = []
        self.unit = 1.0  # weight of a count made now; it grows, instead of old counts shrinking

    def add(self) -> ReuseRate:
        """Return the rate of one more kind of thing."""
        rate = ReuseRate(self)
        self._rates.append(rate)
        return rate

    def tick(self) -> None:
        """Let all counts decay by one step."""
        self.unit /= self._decay
        if self.unit > RESCALE:
            for rate in self._rates:
                rate.scale(1.0 / self.unit)
            self.unit = 1.0


class ReuseRate:
    """Uses for each trial; recent ones count more, and labels shrink to all labels.

    A trial is counted when a thing comes into being, a use when it serves. Both decay alike, so
    that in a steady state the ratio has no bias, however long a use takes to come::

        all labels:  (uses + 1/2) / (trials + 1)
        one label:   (uses + SHRINKAGE * all) / (trials + SHRINKAGE)

    Before the first trial it is 1/2, so that an unknown kind is tried.

    Parameters
    ----------
    clock
        The group of rates that it belongs to.
    """

    __slots__ = ("_clock", "_labels", "_trials", "_uses")

    def __init__(self, clock: ReuseRates) -> None:
        self._clock = clock
        self._trials = self._uses = 0.0
        self._labels: dict[int, list[float]] = {}  # label -> trials, uses

    def trial(self, label: int = -1) -> None:
        """Count a trial, also for its label where that is known."""
        unit = self._clock.unit
        self._trials += unit
        if label >= 0:
            self._counts(label)[0] += unit

    def use(self, label: int = -1) -> None:
        """Count a use, also for its label where that is known."""
        unit = self._clock.unit
        self._uses += unit
        if label >= 0:
            self._counts(label)[1] += unit

    def rate(self, label: int = -1) -> float:
        """Return the uses to expect of one trial."""
        unit = self._clock.unit
        rate = (self._uses + 0.5 * unit) / (self._trials + unit)
        own = self._labels.get(label) if label >= 0 else None
        if own is None:
            return rate
        prior = SHRINKAGE * unit
        return (own[1] + prior * rate) / (own[0] + prior)

    def scale(self, factor: float) -> None:
        """Multiply all counts."""
        self._trials *= factor
        self._uses *= factor
        for counts in self._labels.values():
            counts[0] *= factor
            counts[1] *= factor

    def _counts(self, label: int) -> list[float]:
        counts = self._labels.get(label)
        if counts is None:
            counts = self._labels[label] = [0.0, 0.0]
        return counts
