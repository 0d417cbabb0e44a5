"""What every registered admission policy promises."""

from __future__ import annotations

import pytest

from policies.admission import ADMISSION
from simulator.entry import Checkpoint, KvRun

ROOT = KvRun(None, -1, 0)


@pytest.fixture(params=sorted(ADMISSION))
def policy(request):
    return ADMISSION[request.param]()


def test_it_says_whether_it_looks_ahead_and_whether_it_is_asked(policy):
    assert policy.clairvoyant in {True, False}
    assert policy.always in {True, False}


@pytest.mark.parametrize("victim", [None, Checkpoint(ROOT, 5, 10)])
@pytest.mark.parametrize("candidate", [Checkpoint(ROOT, 7, 10), KvRun(ROOT, 0, 9)])
def test_it_answers_yes_or_no_and_changes_nothing(policy, candidate, victim):
    def state():
        entries = [entry for entry in (candidate, victim) if entry is not None]
        return [[getattr(entry, name) for name in entry.__slots__] for entry in entries]

    before = state()
    assert policy.admit(candidate, 10, victim) in {True, False}
    assert state() == before


def test_one_that_is_never_asked_says_yes(policy):
    if policy.always:
        assert policy.admit(Checkpoint(ROOT, 7, 10), 10, Checkpoint(ROOT, 5, 10))
