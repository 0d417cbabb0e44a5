"""Times as whole nanoseconds since 1970, kept exact until the first is taken from all.

As floats, nanoseconds since 1970 are exact to 256 of them only. So a reader looks at all times
first, and ticks are those since the earliest.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.base.errors import printable
from workloads.reading.times import parse_time

NANOSECONDS = 10**9  # a second

_TEN_YEARS = 3652 * 86400 * NANOSECONDS


@dataclass(slots=True)
class NanosecondClock:
    """The times of one file: each is first seen, then told in ticks since the earliest."""

    first: int | None = None
    earliest: int = 0
    zoned: bool | None = None

    def see(self, time: int | str) -> int:
        """Look at a time, which is a date or nanoseconds since 1970, and return the latter.

        Raises
        ------
        ValueError
            Where it is no date, is more than ten years from the first that was seen, or has a
            zone where the first has none, or the reverse.
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
