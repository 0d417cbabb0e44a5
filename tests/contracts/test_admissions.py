"""What every registered admission policy promises."""

from __future__ import annotations

import numpy as np
import pytest

from policies.eviction.lru import Lru
from policies.registry import create
from simulator.plugins.departures import NO_DEPARTURES, Departure, Departures, nothing
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.simulation import Scenario, simulate
from tests.contracts.plugins import names
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

ROOT = KvSpan(None, -1, 0)


@pytest.fixture(params=names("admission"))
def name(request):
    return request.param


@pytest.fixture
def policy(name):
    return create("admission", name)


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
@pytest.mark.parametrize("candidate", [Checkpoint(ROOT, 7, 10), KvSpan(ROOT, 0, 9)])
def test_it_answers_yes_or_no_and_changes_nothing(policy, candidate, departures):
    def state():
        return [[getattr(e, name) for name in e.__slots__] for e in (candidate, VICTIM)]

    before = state()
    assert policy.admit(candidate, 10, departures) in {True, False}
    assert state() == before


def test_one_that_is_never_asked_says_yes(policy):
    if policy.always:
        assert policy.admit(Checkpoint(ROOT, 7, 10), 10, leaving(1, []))


def answers_in_traffic(policy, seed, shows):
    """Return what it answers in a full cache, and how often it looked at what would leave.

    Without `shows` room is short as well, but nothing is seen to leave.
    """
    answers, looks = [], []
    admit = policy.admit

    def asked(candidate, size_bytes, departures):
        def foresee(short_bytes):
            looks.append(short_bytes)
            return iter(leaving) if shows else nothing(short_bytes)

        leaving = list(departures)
        shown = Departures(departures.short_bytes, foresee)
        answers.append(admit(candidate, size_bytes, shown))
        return answers[-1]

    policy.admit = asked
    rng = np.random.default_rng(seed)
    prompts = [tuple(rng.integers(0, 2, rng.integers(1, 12)).tolist()) for _ in range(120)]
    scenario = Scenario(
        toy_profile(),
        placer=lambda: Wanted(2, 5, end=True),
        eviction=Lru,
        admission=lambda: policy,
        capacity_bytes=60,
        server="instant",
    )
    simulate(trace_of(prompts), scenario)
    return answers, len(looks)


def test_one_that_looks_at_what_would_leave_lets_it_decide(name):
    """To look costs: one that compares nothing looks at nothing."""
    looks, differ = 0, False
    for seed in range(3):
        seen, unseen = (
            answers_in_traffic(create("admission", name), seed, shows) for shows in (True, False)
        )
        looks += seen[1]
        differ |= seen[0] != unseen[0]
    assert bool(looks) == differ
