"""Arrival times, kept exactly until they become seconds since the first arrival.

A float64 of seconds since 1970 cannot hold nanoseconds. A time therefore stays the whole or decimal
number in the file, and the first arrival is subtracted before anything is rounded.
"""

from __future__ import annotations

from array import array
from decimal import Context, Decimal
from typing import Literal

import numpy as np
from numpy.typing import NDArray

TimeUnit = Literal["s", "ms", "us", "ns"]
TICKS_PER_SECOND: dict[TimeUnit, float] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}

Ticks = int | float | Decimal  # a time or duration in a file's own unit

ATTOSECONDS = 10**18  # in a second: fine enough for all decimals of a float of 0.1 or more

_NANOSECOND = 10**9  # in attoseconds
_EXACT_NANOSECONDS = 1 << 53  # up to which a float64 represents each whole number
_WIDE = Context(prec=80)

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


def exact(ticks: Ticks) -> int | Decimal:
    """Return a time as an int or Decimal, which add exactly; a float as its shortest decimal."""
    return Decimal(repr(float(ticks))) if isinstance(ticks, float) else ticks


class Instants:
    """A column of times as whole seconds and attoseconds; it is true if it has any times."""

    __slots__ = ("_fraction", "_seconds")

    def __init__(self) -> None:
        self._seconds = array("q")
        self._fraction = array("q")

    def __len__(self) -> int:
        return len(self._seconds)

    def append(self, ticks: Ticks, ticks_per_second: float) -> None:
        """Append a finite time below 10**18 s, given in ticks."""
        whole, fraction = divmod(_attoseconds(ticks, ticks_per_second), ATTOSECONDS)
        self._seconds.append(whole)
        self._fraction.append(fraction)

    def order(self) -> Int64 | None:
        """Return the indices that sort the times (stably), None if they are already sorted."""
        seconds, fraction = self._columns()
        later = (np.diff(seconds) > 0) | ((np.diff(seconds) == 0) & (np.diff(fraction) >= 0))
        return None if later.all() else np.lexsort((fraction, seconds))

    def since_first(self) -> Float64:
        """Return seconds since the first arrival, in the order of the file, rounded once."""
        seconds, fraction = self._columns()
        if not len(seconds):
            return np.empty(0)
        order = self.order()
        first = 0 if order is None else int(order[0])
        seconds, fraction = seconds - seconds[first], fraction - fraction[first]
        within = (int(seconds.max()) + 1) * _NANOSECOND <= _EXACT_NANOSECONDS
        if within and not (fraction % _NANOSECOND).any():
            nanoseconds: Int64 = seconds * _NANOSECOND + fraction // _NANOSECOND
            return np.true_divide(nanoseconds, _NANOSECOND, dtype=np.float64)
        both = zip(seconds.tolist(), fraction.tolist(), strict=True)
        return np.array([(whole * ATTOSECONDS + part) / ATTOSECONDS for whole, part in both])

    def first_seconds(self) -> float:
        """Return the earliest time in seconds, counted from the file's own origin."""
        seconds, fraction = self._columns()
        return float((seconds + fraction / ATTOSECONDS).min())

    def span_seconds(self) -> float:
        """Return the seconds from the earliest time to the latest."""
        seconds, fraction = self._columns()
        elapsed = (seconds - seconds.min()) + fraction / ATTOSECONDS
        return float(elapsed.max() - elapsed.min())

    def fractions(self, ticks_per_second: float) -> float:
        """Return the share of times that are no whole number of ticks."""
        _, fraction = self._columns()
        return float((fraction % (ATTOSECONDS // int(ticks_per_second)) > 0).mean())

    def merged(self, times: Float64) -> NDArray[np.bool_]:
        """Return which requests come after another that `since_first` rounds to the same time."""
        seconds, fraction = self._columns()
        order = np.lexsort((fraction, seconds))
        differs = (np.diff(seconds[order]) != 0) | (np.diff(fraction[order]) != 0)
        late = np.zeros(len(times), dtype=np.bool_)
        late[order[1:]] = differs & (np.diff(times[order]) == 0)
        return late

    def shift(self, by: Float64 | Instants) -> None:
        """Add seconds, or the times of another column, to the times."""
        if isinstance(by, Instants):
            more, part = by._columns()
        else:
            more = np.floor(by).astype(np.int64)
            part = np.rint((by - more) * ATTOSECONDS).astype(np.int64)
        seconds, fraction = self._columns()
        carry, rest = np.divmod(fraction + part, ATTOSECONDS)
        self._seconds = array("q", (seconds + more + carry).tobytes())
        self._fraction = array("q", rest.tobytes())

    def _columns(self) -> tuple[Int64, Int64]:
        return (
            np.frombuffer(self._seconds, dtype=np.int64),
            np.frombuffer(self._fraction, dtype=np.int64),
        )


def _attoseconds(ticks: Ticks, ticks_per_second: float) -> int:
    per_tick = ATTOSECONDS // int(ticks_per_second)
    whole = int(ticks)
    if whole == ticks:
        return whole * per_tick
    return int(_WIDE.multiply(Decimal(exact(ticks)), per_tick).to_integral_value())
