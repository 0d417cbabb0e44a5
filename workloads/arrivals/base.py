"""Base class of arrival processes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from simulator.base.bounds import MAX_RATE_PER_SECOND, MIN_RATE_PER_SECOND
from simulator.base.errors import UsageError
from workloads.gaps import Float64, check_rate
from workloads.spec import Spec, knob

DEFAULT_RATE_PER_SECOND = 1.0


@dataclass(frozen=True, slots=True)
class ArrivalProcess(Spec):
    """A distribution of arrival times from which seeded draws are made.

    Parameters
    ----------
    rate
        Mean requests per second. None: 1, or the rate of the data where the process has data.
    """

    rate: float | None = knob(None, MIN_RATE_PER_SECOND, MAX_RATE_PER_SECOND)

    def times(self, count: int, seed: int) -> Float64:
        """Return `count` ascending times in seconds, the first at 0.

        Raises
        ------
        UsageError
            For a negative count or a seed out of range.
        DataError
            For a file of arrivals that cannot be used.
        """
        if count < 0:
            raise UsageError(f"arrivals: expected a count of at least 0, found {count}")
        if count == 0:
            return np.zeros(0)
        times = self._draw(count, seed)
        times -= times[0]
        return times

    @property
    def rate_per_second(self) -> float:
        """Mean rate in requests per second."""
        return DEFAULT_RATE_PER_SECOND if self.rate is None else self.rate

    @property
    def file(self) -> str:
        """Path of the file that the times come from, empty for none."""
        return ""

    def at_rate(self, rate_per_second: float) -> Self:
        """Return a copy of this process with another mean rate.

        Raises
        ------
        UsageError
            For a rate out of range.
        """
        check_rate(rate_per_second)
        return replace(self, rate=rate_per_second)

    @abstractmethod
    def _draw(self, count: int, seed: int) -> Float64:
        """Return `count` (at least 1) ascending times in seconds, starting anywhere."""
