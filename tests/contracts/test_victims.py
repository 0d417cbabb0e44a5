"""What every eviction policy promises about what would leave."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.admission.base import BaseAdmission
from policies.eviction.base import BaseEviction
from policies.registry import create
from simulator.plugins.context import SPAN, TAIL
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.simulation import Scenario, simulate
from tests.contracts.plugins import names
from tests.simulator.caches import begin, cache_of, finish
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

STATE_BYTES = 10


def most_foreseen(policy):
    """Return how many departures a policy can be asked for: the next alone, or all (None)."""
    return 1 if type(policy).victims is BaseEviction.victims else None


def most_exact(policy):
    """Return how many of them must be what leaves: the first at least, or all (None)."""
    return most_foreseen(policy) if getattr(policy, "foresees_all", True) else 1


def named(entry):
    """Return what an entry is called in any cache of the same trace."""
    kind = type(entry).__name__
    place = entry.position if isinstance(entry, Checkpoint) else (entry.start, entry.stop)
    return (kind, getattr(entry, "span", entry).request, place)


class Served:
    """A cache that serves the requests of a trace as it is told to, and notes what leaves."""

    def __init__(self, name, trace, **context):
        self.policy = create("eviction", name)
        self.cache = cache_of(trace, Wanted(2, 5, end=True), self.policy, **context)
        self.pool = self.cache.pools["unified"]
        self.waiting = list(range(len(trace)))[::-1]
        self.now = 0.0
        self.running = []
        self.left = []  # what has left: its name, the bytes, and the states
        self._step = None  # the last victim, with the free bytes and its states before it goes
        self._next_victim = self.policy.victim
        self.policy.victim = self._victim

    def _victim(self):
        self._note_step()
        victim = self._next_victim()
        if victim is not None:
            self._step = victim, self.pool.free_bytes, states_of(victim)
        return victim

    def _note_step(self):
        if self._step is not None:
            victim, free_bytes, states = self._step
            gone = [named(state) for state in states if not state.resident]
            self.left.append((named(victim), self.pool.free_bytes - free_bytes, gone))
            self._step = None

    def admit(self):
        if self.waiting:
            self.now += 30.0
            self.running.append(begin(self.cache, self.waiting.pop(), self.now))

    def finish(self):
        if self.running:
            finish(self.cache, self.running.pop(0), self.now)

    def take(self, step):
        if step != "finish":
            self.admit()
        if step != "admit":
            self.finish()

    def foreseen(self, short_bytes, most=None):
        """Return what would leave: what it is, the bytes, and the states."""
        self._note_step()
        most = most_foreseen(self.policy) or most
        leaving = islice(self.cache.residency.foresee(self.pool, short_bytes), most)
        departures = [(named(d.entry), d.freed_bytes, [*map(named, d.states)]) for d in leaving]
        self._step = None  # of a policy that foresees the next victim only
        return departures

    def make_room(self, states):
        """Make room for so many states, and return what has left."""
        self.what_left()
        self.cache.residency.make_room_for(0, states)
        self.cache.check()
        return self.what_left()

    def what_left(self):
        """Return what has left since this was asked before, as `foreseen` does."""
        self._note_step()
        left, self.left = self.left, []
        return left


def states_of(entry):
    return (entry,) if isinstance(entry, Checkpoint) else tuple(reversed(entry.checkpoints))


def hold_against_each_other(name, trace, steps, **context):
    """Take the same steps with one cache that is looked at and one that is left alone."""
    looked_at, left_alone = (Served(name, trace, **context) for _ in range(2))
    most_states = looked_at.pool.total_bytes // STATE_BYTES
    for step, *how in steps:
        if step == "look":
            looked_at.foreseen(*how)
        elif step == "make room":
            states = min(*how, most_states)
            short_bytes = states * STATE_BYTES - looked_at.pool.free_bytes
            foreseen = looked_at.foreseen(short_bytes) if short_bytes > 0 else []
            left = looked_at.make_room(states)
            assert left == left_alone.make_room(states)
            first = most_exact(looked_at.policy)
            assert foreseen[:first] == left[:first]
        else:
            for served in (looked_at, left_alone):
                served.take(step)
            assert looked_at.what_left() == left_alone.what_left()


def trace_with_users(prompts, users):
    """Return a trace of users, who are sessions and have labels; one request in half a minute."""
    trace = trace_of(prompts, [30.0 * request for request in range(len(prompts))])
    users = np.array(users, dtype=np.int32)
    return replace(trace, session=users, label=users % 3)


PROMPTS = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple), min_size=5, max_size=25
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["admit", "serve", "serve", "serve", "finish"])),
        st.tuples(st.just("look"), st.integers(1, 90), st.integers(1, 6)),
        st.tuples(st.just("make room"), st.integers(1, 9)),
    ),
    min_size=8,
    max_size=45,
)


@pytest.mark.parametrize("name", names("eviction"))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    prompts=PROMPTS,
    steps=STEPS,
    capacity_bytes=st.integers(20, 100),
    kv_bytes=st.integers(0, 3),
    page_tokens=st.integers(1, 3),
    cut=st.sampled_from([TAIL, SPAN]),
)
def test_what_would_leave_is_what_leaves_and_looking_changes_nothing(
    name, prompts, steps, **context
):
    trace = trace_with_users(prompts, [number % 3 for number in range(len(prompts))])
    hold_against_each_other(name, trace, [*steps, ("look", 50, 4), ("make room", 9)], **context)


OTHER_SETTINGS = [
    "clock:bits=3",
    "marconi:alpha=1",
    "s3fifo:small=0.4,promote=1",
    "slru:segments=4",
    "split_lru:first=states,refresh=path",
    "ttl:seconds=300,refresh=true",
    "two_q:queue=0.6",
    "wtinylfu:window=0.4",
]


@pytest.mark.parametrize("name", [*names("eviction"), *OTHER_SETTINGS])
@pytest.mark.parametrize("seed", range(8))
def test_so_it_is_in_long_traffic(name, seed):
    """The queues and memories of some policies take a while to fill, some but a few entries."""
    rng = random.Random(seed)
    count, capacity = rng.randint(60, 160), rng.randint(40, 400)
    prompts = [tuple(rng.choices((0, 1, 2), (5, 4, 1), k=rng.randint(1, 14))) for _ in range(count)]
    trace = trace_with_users(prompts, [rng.randint(0, 9) for _ in prompts])
    hold_against_each_other(
        name,
        trace,
        any_steps(rng, 3 * count),
        kv_bytes=rng.choice((0, 1, 1, 2, 3)),
        page_tokens=rng.randint(1, 3),
        capacity_bytes=capacity,
        cut=TAIL if seed % 4 else SPAN,
    )


def any_steps(rng, count):
    for _ in range(count):
        kind = rng.random()
        if kind < 0.2:
            yield "look", rng.randint(1, 300), rng.choice((1, 2, 4, None))
        elif kind < 0.3:
            yield "make room", rng.randint(1, 40)
        else:
            yield (rng.choice(("admit", "serve", "serve", "finish")),)


@pytest.mark.parametrize("name", names("eviction"))
def test_the_first_to_leave_is_the_victim_even_if_another_could_go_again(name):
    policy = create("eviction", name)
    root = KvSpan(None, -1, 0)
    first, second, third = (Checkpoint(root, position, STATE_BYTES) for position in (1, 2, 3))
    for entry in (first, second, third):
        policy.on_insert(entry)
    assert next(policy.victims()) is policy.victim()
    first.pins = 1
    assert policy.victim() in {second, third}
    first.pins = 0
    policy.on_evictable(first)
    assert next(policy.victims()) is policy.victim()


class Looks(BaseAdmission):
    """Admits all, after a look at some of what would leave."""

    def __init__(self, most):
        self.rng = random.Random(7)
        self.most = most

    def admit(self, candidate, size_bytes, departures):
        list(islice(departures, self.rng.randint(0, self.most)))
        return True


@pytest.mark.parametrize("name", [*names("eviction"), *OTHER_SETTINGS])
@pytest.mark.parametrize("seed", range(4))
def test_admission_that_only_looks_changes_no_record(name, seed):
    rng = random.Random(seed)
    prompts = [tuple(rng.choices((0, 1, 2), (5, 4, 1), k=rng.randint(1, 14))) for _ in range(120)]
    trace = trace_with_users(prompts, [rng.randint(0, 9) for _ in prompts])
    columns = [
        simulate(
            trace,
            Scenario(
                toy_profile(page_tokens=1 + seed % 2),
                placer=lambda: Wanted(2, 5, end=True),
                eviction=lambda: create("eviction", name),
                admission=partial(Looks, most),
                capacity_bytes=60 + 40 * seed,
                cut=SPAN if seed == 3 else TAIL,
            ),
        ).columns
        for most in (most_foreseen(create("eviction", name)) or 4, 0)
    ]
    assert sorted(columns[0]) == sorted(columns[1])
    assert all((columns[0][key] == columns[1][key]).all() for key in columns[0])
