"""The least of all groups, against a look at every state."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.groups import Groups
from policies.orders.hazard import Hazard, holding
from policies.orders.life import Life
from tests.policies.eviction.hand import root, span_below, state_in

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "use", "drop", "move", "pin", "unpin", "learn", "wait"]),
        st.integers(0, 7),
        st.integers(0, 40),
    ),
    max_size=60,
)


def a_state(kind=0, steps=0, last=0):
    life = Life(state_in(span_below(root(), 10), 10), kind, last)
    life.steps = steps
    return life


def shape(hazard, kind, index):
    """Give a kind an index as if it had been learned."""
    hazard.index[kind][:] = [*index, *[index[-1]] * (hazard.BINS - len(index))]
    hazard.lows[kind][:] = accumulate(hazard.index[kind], min)
    hazard.holds[kind][:] = holding(hazard.lows[kind])


class Driven:
    """Groups, and beside them the states that they hold."""

    def __init__(self):
        self.hazard = Hazard(2)
        self.groups = Groups(self.hazard, 1.0)
        self.held = []
        self.now = 0

    def put(self, which):
        life = a_state(which % 2, which % 3, self.now)
        self.held.append(life)
        self.groups.put(life, self.now)

    def use(self, life):
        life.last, life.time = self.now, 0
        self.groups.put(life, self.now)

    def move(self, life):
        life.steps = (life.steps + 1) % 3
        self.groups.put(life, self.now)

    def drop(self, life):
        if life.entry.evictable:
            life.time = 0
            self.held.remove(life)

    def pin(self, life):
        life.entry.pins += 1

    def unpin(self, life):
        life.entry.pins = max(life.entry.pins - 1, 0)
        if not life.entry.pins and not life.time:
            self.groups.put(life, self.now)

    def take(self, step, which, number):
        if step == "put":
            self.put(which)
        elif step == "wait":
            self.now += number
        elif step == "learn":
            for _ in range(40):
                self.hazard.note_use(which % 2, number)
        elif self.held:
            getattr(self, step)(self.held[which % len(self.held)])

    def order(self, life):
        index = self.hazard.index[life.kind][(self.now - life.last).bit_length()]
        return index * 2.0**life.steps, life.last

    def least_order(self, gone=()):
        """Return the least worth and its last use at either end of a group, looking at all."""
        ends = []
        for group in {(life.kind, life.steps) for life in self.held}:
            lives = [life for life in self.held if (life.kind, life.steps) == group]
            lives = [life for life in lives if life.entry.evictable and life.entry not in gone]
            lives.sort(key=lambda life: life.last)
            ends += lives[:1] + lives[-1:]
        return min(map(self.order, ends), default=None)

    def order_of(self, state):
        return next(self.order(life) for life in self.held if life.entry is state)


@given(steps=STEPS)
def test_it_is_the_least_of_both_ends_of_every_group(steps):
    driven = Driven()
    for step in steps:
        driven.take(*step)
        least = driven.groups.least(driven.now)
        assert least is None or least.evictable
        assert (None if least is None else driven.order_of(least)) == driven.least_order()


@given(steps=STEPS, waiting=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=3))
def test_the_order_in_which_they_would_go_is_found_without_a_change(steps, waiting):
    driven = Driven()
    for step in steps:
        driven.take(*step)
    held, now = driven.held, driven.now
    coming = {held[which]: steps for which, steps in waiting if which < len(held)}
    before = [(life.steps, life.time) for life in held]
    gone, names = [], []
    ahead = driven.groups.in_order(
        list(coming.items()), now, lambda state: state.evictable and state not in gone
    )
    for state in ahead:
        gone.append(state)
        names.append(state)
    assert [(life.steps, life.time) for life in held] == before
    for life, group in coming.items():
        life.steps = group
        driven.groups.put(life, now)
    for state in names:
        assert driven.order_of(state) == driven.least_order()
        assert driven.groups.least(now) is state
        driven.drop(next(life for life in held if life.entry is state))
    assert driven.groups.least(now) is None


def test_what_is_in_use_does_not_hide_what_is_worth_less():
    hazard = Hazard(2)
    shape(hazard, 0, [1.0, 1.0, 1.0, 1.0, 1.0, 0.2, 0.3])  # the oldest is not worth the least
    shape(hazard, 1, [0.25])
    groups = Groups(hazard, 1.0)
    old, middle, young = (a_state(0, last=last) for last in (0, 20, 40))
    other = a_state(1, last=40)
    for life in (old, middle, young, other):
        groups.put(life, 40)
    assert groups.least(40) is other.entry  # only the ends of a group are compared
    old.entry.pins += 1
    assert groups.least(40) is middle.entry


def test_many_uses_leave_no_trail():
    groups = Groups(Hazard(1), 1.0)
    life = a_state()
    for now in range(20_000):
        life.last, life.time = now, 0
        groups.put(life, now)
        groups.least(now - 1 if now % 2 else now)
    (group,) = groups._groups.values()
    assert len(group.places) < 10_000
    assert len(groups._bounds) < 10_000
    assert len(groups._due) < 10_000
