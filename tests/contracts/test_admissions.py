"""What every registered admission policy promises."""

from __future__ import annotations

import pytest

from policies.admission import ADMISSION
from simulator.departure import NO_DEPARTURES, Departure, Departures
from simulator.entry import Checkpoint, KvRun

ROOT = KvRun(None, -1, 0)


@pytest.fixture(params=sorted(ADMISSION))
def policy(request):
    return ADMISSION[request.param]()


def test_it_says_whether_it_looks_ahead_and_whether_it_is_asked(policy):
    assert policy.clairvoyant in {True, False}
    assert policy.always in {True, False}


VICTIM = Checkpoint(ROOT, 5, 10)


def leaving(count, looks):
    """Return departures of `VICTIM`, and note each that is looked at."""

    def foresee(short_bytes):
        for _ in range(count):
            looks.append(short_bytes)
            yield Departure(VICTIM, 10, (VICTIM,))

    return Departures(10, foresee)


@pytest.mark.parametrize("departures", [NO_DEPARTURES, leaving(1, []), leaving(0, [])])
@pytest.mark.parametrize("candidate", [Checkpoint(ROOT, 7, 10), KvRun(ROOT, 0, 9)])
def test_it_answers_yes_or_no_and_changes_nothing(policy, candidate, departures):
    def state():
        return [[getattr(e, name) for name in e.__slots__] for e in (candidate, VICTIM)]

    before = state()
    assert policy.admit(candidate, 10, departures) in {True, False}
    assert state() == before


def test_one_that_is_never_asked_says_yes(policy):
    if policy.always:
        assert policy.admit(Checkpoint(ROOT, 7, 10), 10, leaving(1, []))


COMPARING = {"tinylfu", "value"}


def test_one_that_compares_nothing_looks_at_no_departure(policy):
    looks = []
    policy.admit(Checkpoint(ROOT, 7, 10), 10, leaving(5, looks))
    compares = any(type(policy) is ADMISSION[name] for name in COMPARING)
    assert bool(looks) == compares
