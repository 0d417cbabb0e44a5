from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.instants import Instants, exact

EPOCH_NS = 1_700_000_000_000_000_000
ticks = st.one_of(
    st.integers(0, 10**18),
    st.decimals(0, 10**10, allow_nan=False, places=9),
    st.floats(0, 1e9),
)


def column(*times, ticks_per_second=1.0):
    instants = Instants()
    for time in times:
        instants.append(time, ticks_per_second)
    return instants


def test_nanoseconds_since_1970_keep_their_differences():
    offsets = [0, 1, 2, 5, 1000]
    instants = column(*(EPOCH_NS + offset for offset in offsets), ticks_per_second=1e9)
    assert instants.since_first().tolist() == [0, 1e-9, 2e-9, 5e-9, 1e-6]
    assert instants.order() is None


def test_digits_behind_the_point_count_as_they_are_written():
    instants = column(Decimal("1700000000.123456789"), Decimal("1700000000.123456790"))
    assert instants.since_first().tolist() == [0, 1e-9]


@given(st.lists(ticks, min_size=1), st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_seconds_are_rounded_once(times, ticks_per_second):
    instants = column(*times, ticks_per_second=ticks_per_second)
    true = [Fraction(exact(time)) / ticks_per_second for time in times]
    true = [Fraction(round(time * 10**18), 10**18) for time in true]
    seconds = instants.since_first()
    assert seconds.tolist() == [float(time - min(true)) for time in true]
    order = instants.order()
    by_time = sorted(range(len(times)), key=lambda at: true[at])
    assert (list(range(len(times))) if order is None else order.tolist()) == by_time


def test_times_that_seconds_cannot_tell_apart_are_counted():
    span = 400 * 86400 * 10**9
    instants = column(0, span + 1, span, span, ticks_per_second=1e9)
    times = instants.since_first()
    assert times[1] == times[2]
    assert instants.merged(times).tolist() == [False, True, False, False]


@pytest.mark.parametrize("by", [np.array([0.5, 0.25]), column(Decimal("0.5"), Decimal("0.25"))])
def test_they_are_shifted(by):
    instants = column(Decimal("1.75"), 2)
    instants.shift(by)
    assert instants.since_first().tolist() == [0, 0]
    assert len(instants) == 2


def test_none_are_false():
    assert not column()
    assert column(0)
    assert column().since_first().tolist() == []
