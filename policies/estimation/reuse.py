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

    def add(self, ways: int = 1) -> ReuseRate:
        """Return the rate of one more kind of thing, which can serve in so many ways."""
        rate = ReuseRate(self, ways)
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

    Before the first trial it is 1/2, so that an unknown kind is tried. Of a thing that can serve
    in several ways the uses are counted by way, and the trials once.

    Parameters
    ----------
    clock
        The group of rates that it belongs to.
    ways
        The ways of use, which are numbered from 0.
    """

    __slots__ = ("_clock", "_counts", "_labels")

    def __init__(self, clock: ReuseRates, ways: int = 1) -> None:
        self._clock = clock
        self._counts = [0.0] * (ways + 1)  # uses by way, then trials
        self._labels: dict[int, list[float]] = {}  # the same by label

    def trial(self, label: int = -1) -> None:
        """Count a trial, also for its label where that is known."""
        unit = self._clock.unit
        self._counts[-1] += unit
        if label >= 0:
            self._counts_of(label)[-1] += unit

    def use(self, label: int = -1, way: int = 0) -> None:
        """Count a use, also for its label where that is known."""
        unit = self._clock.unit
        self._counts[way] += unit
        if label >= 0:
            self._counts_of(label)[way] += unit

    def rate(self, label: int = -1, way: int = 0) -> float:
        """Return the uses to expect of one trial."""
        unit, counts = self._clock.unit, self._counts
        rate = (counts[way] + 0.5 * unit) / (counts[-1] + unit)
        own = self._labels.get(label) if label >= 0 else None
        if own is None:
            return rate
        prior = SHRINKAGE * unit
        return (own[way] + prior * rate) / (own[-1] + prior)

    def scale(self, factor: float) -> None:
        """Multiply all counts."""
        for counts in (self._counts, *self._labels.values()):
            counts[:] = [count * factor for count in counts]

    def _counts_of(self, label: int) -> list[float]:
        counts = self._labels.get(label)
        if counts is None:
            counts = self._labels[label] = [0.0] * len(self._counts)
        return counts
