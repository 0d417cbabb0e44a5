"""Fields that may hold a line's time, under the names that various tools use.

A name that ends in a unit determines the unit of its number.
"""

from __future__ import annotations

from decimal import Decimal

import msgspec

from workloads.instants import TICKS_PER_SECOND, TimeUnit
from workloads.reading.times import OTHER_THINGS, UNWRITTEN, Written, number_or_date


class Timed(msgspec.Struct, gc=False, kw_only=True):
    """A line with a time, a number or a date, under one of these names; the first one counts.

    Names that other data may have too, such as `time`, are ignored where their value is of another
    type.
    """

    timestamp: Written = UNWRITTEN
    time: Written = UNWRITTEN
    arrival_time: Written = UNWRITTEN
    arrived_at: Written = UNWRITTEN
    arrival_timestamp: Written = UNWRITTEN
    created_at: Written = UNWRITTEN
    created: Written = UNWRITTEN
    created_time: Written = UNWRITTEN
    start_time: Written = UNWRITTEN
    datetime: Written = UNWRITTEN
    ts: Written = UNWRITTEN
    timestamp_s: Written = UNWRITTEN
    timestamp_ms: Written = UNWRITTEN
    timestamp_us: Written = UNWRITTEN
    timestamp_ns: Written = UNWRITTEN
    time_ms: Written = UNWRITTEN
    arrival_time_ms: Written = UNWRITTEN
    arrival_time_us: Written = UNWRITTEN
    arrival_time_ns: Written = UNWRITTEN
    created_at_ms: Written = UNWRITTEN
    start_time_ms: Written = UNWRITTEN
    start_time_ns: Written = UNWRITTEN

    def when(self) -> tuple[str, int | Decimal | str | None]:
        """Return the name and value of the field with the time; the value is None without one.

        Raises
        ------
        msgspec.ValidationError
            For a field that is neither a number nor text.
        """
        for field in TIME_FIELDS:
            written = getattr(self, field)
            if field not in SURE and bytes(written)[:1] in OTHER_THINGS:
                continue
            try:
                time = number_or_date(written)
            except msgspec.ValidationError as error:
                raise msgspec.ValidationError(f"{error} - at `$.{field}`") from None
            if time is not None:
                return field, time
        return TIME_FIELDS[0], None

    def other_times(self, field: str) -> list[str]:
        """Return the names of the other fields with a time, which are not used beside `field`."""
        there = (name for name in TIME_FIELDS if bytes(getattr(self, name)) not in _NOTHING)
        return [name for name in there if name != field]


TIME_FIELDS = Timed.__struct_fields__
SURE = frozenset({"timestamp", "created_at", "created"})
_NOTHING = {b"", b"null"}
UNIT_OF: dict[str, TimeUnit] = {
    f"{name}_{unit}": unit
    for unit in TICKS_PER_SECOND
    for name in ("timestamp", "time", "arrival_time", "created_at", "start_time")
}
