"""Prices of memory and GPU time, and the capacity where more memory stops paying.

Memory is paid for as long as the replay lasts, the GPU only while it prefills, restores and
captures, as in a fleet where what is idle serves others. So a cache pays where the GPU time that it
saves is worth more than its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from reports.documents import Amount
from reports.study.layers import read_settings
from simulator.base.errors import UsageError, did_you_mean, printable

GIB = 1 << 30
HOUR_SECONDS = 3600.0
MILLION = 1e6
MOST_DOLLARS = 1e6
_KEYS = ("dollars_per_gib_hour", "dollars_per_gpu_hour")


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for an hour of a GiB of cache, and of the GPU."""

    dollars_per_gib_hour: Amount
    dollars_per_gpu_hour: Amount

    def memory_dollars(self, capacity_bytes: int, seconds: float) -> float:
        """Return what a capacity costs over a time."""
        return self.dollars_per_gib_hour * capacity_bytes / GIB * seconds / HOUR_SECONDS

    def gpu_dollars(self, busy_seconds: float) -> float:
        """Return what a busy GPU costs."""
        return self.dollars_per_gpu_hour * busy_seconds / HOUR_SECONDS


@dataclass(frozen=True, slots=True)
class PriceStep:
    """The number of a choice, and the dearest GiB-hour at which it is still the cheapest."""

    number: int
    dollars_per_gib_hour: float


def read_prices(path: Path) -> Prices:
    """Return the prices of a TOML file with `dollars_per_gib_hour` and `dollars_per_gpu_hour`.

    Raises
    ------
    UsageError
        When the file cannot be read, has other keys, lacks one, or a price is out of range.
    """
    values, place = read_settings(path).values, printable(str(path))
    for key in values:
        if key not in _KEYS:
            raise UsageError(
                f"{place}: unknown key '{printable(key)}'{did_you_mean(key, [*_KEYS])}"
            )
    prices = [_dollars(values.get(key), f"{place}: '{key}'") for key in _KEYS]
    return Prices(*prices)


def _dollars(value: Any, place: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= MOST_DOLLARS:
        shown = "none" if value is None else printable(repr(value), limit=60)
        expected = f"expected dollars from 0 to {MOST_DOLLARS:,.0f}"
        raise UsageError(f"{place}: {expected}, found {shown}")
    return float(value)


def steps(gib_hours: Sequence[float], gpu_dollars: Sequence[float]) -> list[PriceStep]:
    """Return the choices that are the cheapest at some price of memory, by the memory they take.

    They are the corners of the lower convex hull of what the GPU costs against memory. Its slopes
    are prices: from one corner to the next, a GiB-hour is worth what the GPU costs less. The first
    corner has no dearest price: infinity.

    Parameters
    ----------
    gib_hours, gpu_dollars
        The GiB-hours of memory and dollars of GPU that each choice takes for the same work.
    """
    hull: list[int] = []

    def worth(less: int, more: int) -> float:
        saved = gpu_dollars[less] - gpu_dollars[more]
        return saved / (gib_hours[more] - gib_hours[less])

    for number in sorted(range(len(gib_hours)), key=lambda n: (gib_hours[n], gpu_dollars[n])):
        if hull and gpu_dollars[number] >= gpu_dollars[hull[-1]]:
            continue  # more memory for nothing
        while len(hull) > 1 and worth(*hull[-2:]) <= worth(hull[-1], number):
            hull.pop()
        hull.append(number)
    prices = [inf, *(worth(less, more) for less, more in pairwise(hull))]
    return [PriceStep(number, price) for number, price in zip(hull, prices, strict=True)]
