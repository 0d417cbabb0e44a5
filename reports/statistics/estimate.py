"""An estimate with its interval, the verdict on it, and Student's t."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
SIGNIFICANCE = 0.05

Verdict = Literal["better", "worse", "tied", "unsure", "equal", "unknown"]
CLAIMS: tuple[Verdict, ...] = ("better", "worse")

Method = Literal["replications", "draws", "blocks", "sessions", "documents", "none"]


@dataclass(frozen=True, slots=True)
class Margin:
    """The margin that a difference is judged by.

    Parameters
    ----------
    width
        Differences up to this, either way, do not matter; in the unit of the difference.
    less_is_better
        Whether a difference below zero is an improvement, as of a time.
    """

    width: float = 0.0
    less_is_better: bool = False


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
        How the interval was computed.
    count
        Number of replications, blocks, sessions or documents behind the interval.
    freedom
        Degrees of freedom of the Student's t that the interval is a multiple of; None without one.
    p_holm
        For a difference, the p-value adjusted by Holm's method for all differences of the study;
        None if it was not adjusted, or there was nothing to test.
    margin
        For a difference, the margin within which it counts as tied.
    reason
        Why there is no interval, as in "too short to tell: ..."; empty where there is one, or
        nothing more is to be said.
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: Method = "none"
    count: int = 1
    freedom: float | None = field(default=None, compare=False)
    p_holm: float | None = field(default=None, compare=False)
    margin: Margin = field(default_factory=Margin, compare=False)
    reason: str = field(default="", compare=False)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval; the value twice without one."""
        return (
            self.value if self.low is None else self.low,
            self.value if self.high is None else self.high,
        )

    @property
    def covers_zero(self) -> bool:
        """Whether the interval covers zero; False without one."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high

    @property
    def stands(self) -> bool:
        """Whether the difference is significant after Holm's correction.

        The correction is for all comparisons that were made with it.
        """
        if self.low is None or self.covers_zero:
            return False
        return self.p_holm is None or self.p_holm < SIGNIFICANCE

    @property
    def opposite(self) -> Estimate:
        """The difference the other way round."""
        if self.low is None or self.high is None:
            return replace(self, value=0.0 - self.value)
        return replace(self, value=0.0 - self.value, low=0.0 - self.high, high=0.0 - self.low)

    @property
    def tested(self) -> bool:
        """Whether there is something to test: an interval, and a difference in some part."""
        return self.p_value is not None and bool(self.error or self.value)

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

    @property
    def verdict(self) -> Verdict:
        """The verdict on a difference, the same in every study, table, chart and file.

        equal
            It is zero in every part: there is nothing to test.
        unknown
            It has no interval.
        tied
            The whole interval lies within the margin, so it does not matter, whatever its sign.
        better, worse
                    The difference is significant after Holm's correction for all comparisons that
            were made with it.
        unsure
            Anything else: no significant difference, but not shown to be tied either.

        References
        ----------
        Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach
        for assessing the equivalence of average bioavailability". The interval here is the 95 %
        one, which claims less than the 90 % one that the two tests at 5 % amount to.
        """
        if not self.tested:
            return "unknown" if self.value else "equal"
        if self._lies_within_margin:
            return "tied"
        if not self.stands:
            return "unsure"
        return "better" if (self.value < 0) == self.margin.less_is_better else "worse"

    @property
    def _lies_within_margin(self) -> bool:
        """Whether all of the interval lies within the margin."""
        low, high, width = self.low, self.high, self.margin.width
        return low is not None and high is not None and -width <= low and high <= width


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
