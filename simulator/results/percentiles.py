"""Percentiles: their names, and the sample size from which on they are reported.

A percentile is reported if both ends of a 95 % confidence interval for it exist in the sample. The
largest of n independent values is below the quantile of level q with probability q**n, the smallest
is above it with probability (1 - q)**n; neither may exceed 2.5 %. So P50 needs 6 requests, P90 36,
P95 72, P99 368 and P99.9 3,688.

References
----------
David and Nagaraja (2003), "Order Statistics", 3rd edition, section 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from math import ceil, log
from typing import TYPE_CHECKING

from simulator.base.errors import UsageError, printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TAIL = 0.025  # probability on either side of a 95 % interval
USUAL = ("p50", "p90", "p99")
_NAME = re.compile(r"[pP]?([0-9]{1,2}(?:\.[0-9]{1,6})?)", re.ASCII)


def percentile_name(text: str | float, what: str = "") -> str:
    """Return the canonical name of a percentile: "p99.9" for "99.90", 99.9 or "P99.9".

    Parameters
    ----------
    text
        The percentile, with or without "p".
    what
        Name of the setting, for the error message.

    Raises
    ------
    UsageError
        If it is not a number above 0 and below 100 with at most six decimals.
    """
    match = _NAME.fullmatch(str(text).strip())
    if match is None or not Decimal(match[1]):
        shown = printable(repr(text), limit=60)
        raise UsageError(
            f"{what}{': ' if what else ''}expected a percentile above 0 and below 100, as in 5, 95 "
            f"or 99.9, found {shown}"
        )
    digits = f"{Decimal(match[1]):f}"
    plain = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"p{plain.lstrip('0') if not plain.startswith('0.') else plain}"


def level_of(name: str) -> float:
    """Return the level of a percentile name: 0.999 for "p99.9"."""
    return float(Decimal(name.removeprefix("p")) / 100)


def complement(level: float) -> float:
    """Return 1 - level without binary rounding errors: 0.1 for 0.9."""
    return float(1 - Decimal(str(level)))


def least_requests(level: float) -> int:
    """Return the smallest sample size for which a quantile of this level is reported."""
    return ceil(log(TAIL) / log(max(level, complement(level))))


def percentiles(
    values: NDArray[np.float64], names: Iterable[str] = USUAL
) -> dict[str, float | None]:
    """Return percentiles by name; None for those that the sample is too small for."""
    import numpy as np

    levels = {name: level_of(name) for name in names}
    known = [level for level in levels.values() if len(values) >= least_requests(level)]
    by_level = dict(zip(known, np.quantile(values, known).tolist(), strict=True)) if known else {}
    return {name: by_level.get(level) for name, level in levels.items()}


def with_usual(names: Iterable[str]) -> list[str]:
    """Return the default percentiles and those in `names`, ascending, without duplicates."""
    return sorted({*USUAL, *names}, key=level_of)


def too_few(name: str) -> str:
    """Return why a percentile is not reported, such as "n < 368"."""
    return f"n < {least_requests(level_of(name)):,}"
