from __future__ import annotations

import pytest

from workloads.reading.nanoseconds import NanosecondClock
from workloads.reading.times import parse_time


def test_dates_keep_their_nanoseconds():
    assert parse_time("1970-01-01T00:00:01.123456789Z") == (1_123_456_789, True)
    assert parse_time("1970-01-01 00:00:01.5") == (1_500_000_000, False)
    assert parse_time("1970-01-01T01:00:00+01:00") == (0, True)
    assert parse_time("1969-12-31T23:59:59.999999999Z") == (-1, True)


def test_ticks_are_those_since_the_earliest_that_was_seen():
    clock = NanosecondClock()
    times = [1_768_035_600_000_000_001, "2026-01-10T09:00:00.000000000Z", 1_768_035_600_000_000_007]
    for time in times:
        clock.see(time)
    assert [clock.ticks(time) for time in times] == [1, 0, 7]


def test_zones_and_far_dates_are_refused():
    clock = NanosecondClock()
    clock.see("2026-01-10T09:00:00Z")
    with pytest.raises(ValueError, match="a zone on every line"):
        clock.see("2026-01-10T09:00:00")
    with pytest.raises(ValueError, match="within ten years"):
        clock.see(1)
