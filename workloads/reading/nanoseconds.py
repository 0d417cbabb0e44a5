"""Times as whole nanoseconds since 1970, exact until the earliest is subtracted.

As floats, nanoseconds since 1970 are only exact to 256. So a reader makes a first pass over all
times, and ticks are nanoseconds since the earliest.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.base.errors import printable
from workloads.reading.times import parse_time

NANOSECONDS = 10**9  # per second

_TEN_YEARS = 3652 * 86400 * NANOSECONDS


@dataclass(slots=True)
class NanosecondClock:
    """The times of one file: all are seen in a first pass, then read relative to the earliest."""

    first: int | None = None
    earliest: int = 0
    zoned: bool | None = None

    def see(self, time: int | str) -> int:
        """Register a date or a number of nanoseconds since 1970, and return the latter.

        Raises
        ------
        ValueError
            For an invalid date, one more than ten years from the first, or one with a time zone
            where the first has none, or the reverse.
        """
        now = self._read(time)
        if self.first is None:
            self.first = self.earliest = now
        if abs(now - self.first) > _TEN_YEARS:
            shown = printable(str(time), 40)
            raise ValueError(f"expected a date within ten years of the first, found '{shown}'")
        self.earliest = min(self.earliest, now)
        return now

    def ticks(self, time: int | str) -> int:
        """Return nanoseconds since the earliest time; errors are those of `see`."""
        return self.see(time) - self.earliest

    def _read(self, time: int | str) -> int:
        if isinstance(time, int):
            return time
        now, zoned = parse_time(time)
        if self.zoned is None:
            self.zoned = zoned
        if zoned != self.zoned:
            detail = "found one here" if zoned else "found none here"
            raise ValueError(f"expected a zone on every line or on none, {detail}")
        return now
