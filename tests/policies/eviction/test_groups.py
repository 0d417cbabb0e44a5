"""The least of all groups, against a look at every entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.eviction.groups import Groups
from policies.eviction.hazard import Hazard
from tests.policies.eviction.hand import root, run_below, state_in

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "use", "drop", "pin", "unpin", "learn", "wait"]),
        st.integers(0, 7),
        st.integers(0, 40),
    ),
    max_size=60,
)


class Driven:
    """Groups, and beside them what they hold: kind, weight and last use of each entry."""

    def __init__(self):
        self.hazard = Hazard(2)
        self.groups = Groups(self.hazard)
        self.held = {}
        self.now = 0

    def put(self, which):
        entry = state_in(run_below(root(), 10), 10)
        self.held[entry] = which % 2, 2.0 ** (which % 3), self.now
        self.groups.put(entry, *self.held[entry])

    def use(self, entry):
        self.held[entry] = *self.held[entry][:2], self.now
        entry.queued = False
        self.groups.put(entry, *self.held[entry])

    def drop(self, entry):
        if entry.evictable:
            self.groups.drop(entry)
            del self.held[entry]

    def pin(self, entry):
        entry.pins += 1

    def unpin(self, entry):
        entry.pins = max(entry.pins - 1, 0)
        if not entry.pins and not entry.queued:
            self.groups.put(entry, *self.held[entry])

    def worth(self, entry):
        kind, weight, last = self.held[entry]
        return self.hazard.index[kind][(self.now - last).bit_length()] * weight

    def least_worth(self):
        """Return the least at either end of a group of evictable entries, looking at all."""
        ends = []
        for group in {known[:2] for known in self.held.values()}:
            entries = [e for e, known in self.held.items() if known[:2] == group and e.evictable]
            entries.sort(key=lambda entry: self.held[entry][2])
            ends += entries[:1] + entries[-1:]
        return min(map(self.worth, ends), default=None)


@given(steps=STEPS)
def test_it_is_the_least_of_both_ends_of_every_group(steps):
    driven = Driven()
    for step, which, number in steps:
        if step == "put":
            driven.put(which)
        elif step == "wait":
            driven.now += number
        elif step == "learn":
            for _ in range(40):
                driven.hazard.note_use(which % 2, number)
        elif driven.held:
            getattr(driven, step)(list(driven.held)[which % len(driven.held)])
        found = driven.groups.least(driven.now)
        assert found is None or found.evictable
        assert (None if found is None else driven.worth(found)) == driven.least_worth()


def test_many_uses_leave_no_trail():
    groups = Groups(Hazard(1))
    entry = state_in(run_below(root(), 10), 10)
    for now in range(1000):
        entry.queued = False
        groups.put(entry, 0, 1.0, now)
    (group,) = groups._groups.values()
    assert len(group.oldest) <= 66
    assert len(group.youngest) <= 66
