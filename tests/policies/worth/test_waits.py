"""The log of waits, held against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.worth import waits
from policies.worth.waits import BINS, Waits

KINDS = 3
# By request: how many points of which kind begin to wait, and which of those that wait are used.
STEPS = st.lists(
    st.tuples(
        st.integers(1, 40), st.lists(st.integers(0, KINDS - 1), max_size=4), st.integers(0, 99)
    ),
    max_size=40,
)


def bin_of(age: int) -> int:
    """Return 0 for age 0, else k for ages from 2^(k-1) up to 2^k; the last bin is open."""
    k = 0
    while 2**k <= age:
        k += 1
    return min(k, BINS - 1)


def counted(log: list[list[int | None]], now: int) -> tuple[np.ndarray, np.ndarray]:
    """Count uses and waits one by one."""
    used, came = np.zeros((KINDS, BINS)), np.zeros((KINDS, BINS))
    for kind, begun, ended in log:
        last = bin_of((now if ended is None else ended) - begun)
        came[kind, : last + 1] += 1.0
        if ended is None:
            came[kind, last] -= 0.5
        else:
            used[kind, last] += 1.0
    return used, came


@given(steps=STEPS)
def test_it_equals_plain_counting(steps):
    log, own, now = Waits(), [], 0
    for pause, begins, use in steps:
        now += pause
        waiting = [number for number, (_, _, ended) in enumerate(own) if ended is None]
        if waiting and use % 3:
            number = waiting[use % len(waiting)]
            own[number][2] = now
            log.end(number, now)
        for kind in begins:
            assert log.begin(kind, now) == len(own)
            own.append([kind, now, None])
    for result, expected in zip(log.counts(KINDS, now), counted(own, now), strict=True):
        assert (result == expected).all()


def test_only_the_latest_are_remembered_and_the_others_end_unheard(monkeypatch):
    monkeypatch.setattr(waits, "_REMEMBERED", 5)
    log, own = Waits(), []
    numbers = []
    for now in range(11):
        numbers.append(log.begin(now % KINDS, now))
        own.append([now % KINDS, now, None])
    log.end(numbers[1], 11)
    own[1][2] = 11
    first = log.counts(KINDS, 11)  # eleven are more than twice five
    for result, expected in zip(first, counted(own[-5:], 11), strict=True):
        assert (result == expected).all()
    log.end(numbers[2], 12)  # forgotten: nothing happens
    log.end(numbers[8], 13)  # numbers stay what they are
    own[8][2] = 13
    assert log.begin(2, 13) == 11
    own.append([2, 13, None])
    for result, expected in zip(log.counts(KINDS, 20), counted(own[-6:], 20), strict=True):
        assert (result == expected).all()


@pytest.mark.parametrize("age", [0, 1, 2, 3, 4, 7, 8, 2**17, 2**18 - 1, 2**18, 2**40])
def test_ages_fall_into_bins_of_doubling_width(age):
    log = Waits()
    log.end(log.begin(0, 5), 5 + age)
    used, _ = log.counts(1, 6 + age)
    assert used.argmax() == bin_of(age)
    assert used.sum() == 1.0
