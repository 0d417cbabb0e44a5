"""An estimate with its interval, and Student's t."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95

Method = Literal["replications", "draws", "blocks", "sessions", "documents", "none"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a difference, with its interval where there is evidence for one.

    Parameters
    ----------
    value
        The estimate, in the unit of what was given.
    low, high
        Ends of the interval; None where nothing supports one.
    method
        What the interval rests on.
    count
        Replications, blocks, sessions or documents that it rests on.
    freedom
        Degrees of freedom of the Student's t that the interval is a multiple of; None without one.
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: Method = "none"
    count: int = 1
    freedom: float | None = field(default=None, compare=False)

    @property
    def tied(self) -> bool:
        """Whether the estimate is a difference whose interval covers zero."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high

    @property
    def error(self) -> float | None:
        """The standard error, None without an interval."""
        if self.low is None or self.high is None or self.freedom is None:
            return None
        return (self.high - self.low) / 2 / t_quantile(self.freedom)

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value of zero: below 5 % where the interval leaves zero out."""
        if self.error is None or self.freedom is None:
            return None
        if self.error == 0:
            return float(self.value == 0)
        return 2 * float(stdtr(self.freedom, -abs(self.value) / self.error))


def t_interval(value: float, error: float, freedom: float, method: Method, count: int) -> Estimate:
    """Return the t interval of a value with a standard error."""
    half = t_quantile(freedom) * error
    if method not in {"replications", "draws"}:
        # The last digits of a matrix product depend on how many threads share it; pages must not.
        half = float(f"{half:.6g}")
    return Estimate(value, value - half, value + half, method, count, freedom)


def t_quantile(freedom: float) -> float:
    """Return the half width of a 95 % interval in standard errors."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
