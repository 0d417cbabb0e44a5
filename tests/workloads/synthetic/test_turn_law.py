"""The law of later turns of chats."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.base.errors import UsageError
from tests.workloads.laws import assert_mean
from workloads.drift import Drift, read_drift
from workloads.synthetic import Chats
from workloads.synthetic.truth import repeat_law
from workloads.synthetic.turn_law import _lengths, later_turn_law

SESSIONS = 20_000


def later_turns(chats, x, drift):
    """Return the session and the overlap of each later turn of many chats that start at x."""
    traffic = chats.sessions(3, drift, np.full(SESSIONS, x))
    later = np.append(False, np.diff(traffic.session) == 0)
    return traffic.session[later], traffic.stops[later, -2]


@pytest.mark.parametrize(
    ("knobs", "drift", "x"),
    [
        ({}, "", 0.5),
        ({"turns_mean": 1.5, "count": 3}, "shift:distance=0.2,at=0.3", 0.5),
        ({"user_tokens_median": 2, "answer_tokens_median": 1}, "growth:factor=3.3", 1.0),
        ({"turns_mean": 20.0}, "births:times=3", 0.8),
    ],
)
def test_the_law_is_that_of_many_chats(knobs, drift, x):
    chats, moving = Chats(**knobs), read_drift(drift)
    law = later_turn_law(chats, x, 3, moving)
    assert law.weights.sum() == pytest.approx(1.0)
    session, overlap = later_turns(chats, x, moving)
    per_session = chats.requests_per_session - 1
    below = np.cumsum(law.weights)
    for share in (0.02, 0.2, 0.5, 0.8, 0.98):
        at = int(np.searchsorted(below, share))
        # turns of one chat depend on each other, chats do not
        counts = np.bincount(session, overlap <= law.depths[at], minlength=SESSIONS)
        assert_mean(counts, per_session * below[at])


def test_the_second_turn_by_hand():
    # two turns at most in nearly all chats, one prefix: what is added is one user and one answer
    chats = Chats(count=1, turns_mean=1.001, user_tokens_median=3, answer_tokens_median=2)
    law = later_turn_law(chats, 0.5, 0, Drift())
    start = int(repeat_law(chats, 0.5, 0, Drift()).depths[0])
    user, answer = _lengths(3, 0.6), _lengths(2, 0.6)
    assert user.sum() == pytest.approx(1.0)
    assert law.depths[0] == start + 2
    assert law.weights[:3] == pytest.approx(np.convolve(user, answer)[2:5], rel=0.002)


def test_what_has_no_law_is_refused():
    with pytest.raises(UsageError, match="have none"):
        later_turn_law(Chats(turns_mean=1), 0.5, 0, Drift())
    with pytest.raises(UsageError, match="expected at most 16,777,216 depths"):
        later_turn_law(Chats(turns_mean=100, user_tokens_median=20_000), 0.5, 0, Drift())
