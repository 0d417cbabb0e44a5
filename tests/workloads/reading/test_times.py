from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.reading.times import DateClock, parse_time

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "ticks", "zoned"),
    [
        ("1970-01-01 00:00:00", 0, False),
        ("1970-01-01 00:00:00.0000001", 100, False),
        ("1970-01-02T00:00:01.5Z", 86401 * SECOND + 500_000_000, True),
        ("1970-01-01T02:00:00+02:00", 0, True),
        ("1969-12-31T22:30:00-0130", 0, True),
        ("1970-01-01 00:00:00.123456789", 123_456_789, False),
        ("2023-11-16 18:17:03.9799600", 1_700_158_623 * SECOND + 979_960_000, False),
    ],
)
def test_times_are_exact_to_the_nanosecond(text, ticks, zoned):
    assert parse_time(text) == (ticks, zoned)


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    st.sampled_from(" T"),
)
def test_what_python_writes_is_read_back(naive, zone, between):
    there = naive.replace(tzinfo=zone)
    since = there - datetime(1970, 1, 1, tzinfo=UTC)
    ticks = (since.days * 86400 + since.seconds) * SECOND + since.microseconds * 1000
    assert parse_time(there.isoformat(between)) == (ticks, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2023-02-29 00:00:00",
        "2023-01-01",
        "2023-01-01 24:00:00",
        "2023-01-01 00:60:00",
        "2023-01-01 00:00:00.",
        "2023-01-01 00:00:00.1234567891",
        "2023-01-01  00:00:00",
        "2023-01-01T00:00:00 Z",
        "2023-01-01T00:00:00+1:00",
        "2023-01-01T00:00:00+00:75",
        "\u0662023-01-01 00:00:00",
        "0000-01-01 00:00:00",
        "20230101T000000Z",
        "1700000000",
    ],
)
def test_other_texts_are_no_times(text):
    with pytest.raises(ValueError, match=r"^expected a time like .*, found '"):
        parse_time(text)


def test_differences_are_exact_in_either_direction():
    clock = DateClock()
    first = clock.ticks("2024-05-10 00:00:00.000000001")
    assert clock.ticks("2024-05-19 00:00:00.000000002") - first == 9 * 86400 * SECOND + 1
    assert clock.ticks("2024-05-09 23:59:59.999999999") - first == -2


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ("2024-05-10 00:00:00", "2024-05-10 00:00:00Z", "found one here"),
        ("2024-05-10 00:00:00Z", "2024-05-10 00:00:00", "found none here"),
        ("2024-05-10 00:00:00", "2004-05-10 00:00:00", "within ten years of the first"),
        ("2024-05-10 00:00:00", "2044-05-10 00:00:00", "within ten years of the first"),
    ],
)
def test_dates_that_cannot_be_of_one_clock_are_refused(first, then, message):
    clock = DateClock()
    clock.ticks(first)
    with pytest.raises(ValueError, match=message):
        clock.ticks(then)
