"""Eviction by what states are worth: by hand, and against a recount after every request."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from policies.admission.unified import UnifiedAdmission
from policies.eviction.unified import MOST_POINTS, Unified
from policies.orders.lineage import state_above, takes_kv
from policies.placement.unified import UnifiedPlacer
from simulator.plugins.context import SPAN, TAIL
from tests.policies.worth.known import what
from tests.simulator.caches import begin, cache_of, finish, serve
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of

KV_BYTES, STATE_BYTES = 1, 10


def cache(prompts, placer, capacity_bytes=10**6, answers=None, admission=None, **sizes):
    """Return a cache with this order, and the order."""
    order = Unified()
    texts = [tuple(map(ord, prompt)) for prompt in prompts]
    after = None if answers is None else [tuple(map(ord, answer)) for answer in answers]
    trace = trace_of(texts, answers=after)
    held = cache_of(trace, placer, order, admission, capacity_bytes=capacity_bytes, **sizes)
    return held, order


def points_of(order):
    """Return all points that are known."""
    known = order._points
    tables = (known._ends, known._last_tokens, known._branches)
    return [point for table in tables for point in table.values()]


def state_for(point):
    """Return the state from which a prompt that returns to a point resumes; the root has one."""
    span = point.span
    while True:
        state = span.deepest_checkpoint(point.position)
        if state is not None:
            return state
        span = span.parent


def states_of(held):
    return [state for span in held.tree for state in span.checkpoints if state.position]


def freed_bytes(state):
    """Count the bytes that leave with a state: its own, and the KV that serves nothing else."""
    if not takes_kv(state):
        return state.size_bytes
    above, start, span = state_above(state), state.position, state.span
    while True:
        start = max(above, span.start)
        if span.start <= above or span.parent.children_resident > 1:
            return state.size_bytes + (state.position - start) * KV_BYTES
        span = span.parent


def freed_now(state):
    """Return what the order takes them to be: exact where the KV lies in one span, not in use.

    What enters or leaves beside the spans above is not noticed until the state is weighed again.
    """
    freed = state.policy_data.freed
    span = state.span
    if not span.pins and (state_above(state) >= span.start or not takes_kv(state)):
        assert freed == freed_bytes(state)
    return freed


def worth(order, state):
    """Recount what a state is worth: the tokens that it saves a request, for each byte it frees."""
    rate = sum(order._points.rate_of(point) for point in state.policy_data.points)
    return rate * (state.position - state_above(state)) / freed_now(state)


def check_points(held, order):
    """Each point is served by the state from which a prompt would resume, and once; or by none."""
    served = Counter()
    for state in states_of(held):
        served.update(state.policy_data.points)
        for point in state.policy_data.points:
            assert point.server is state
    assert set(served.values()) <= {1}
    for point in points_of(order):
        assert (point.server is None) == (point not in served)
        if point.server is not None:
            assert point.server is state_for(point)


def check_order(held, order):
    """The victim is bare KV, or a state that is worth least of those that can go."""
    order.losses_of([1])  # weighs what has changed
    free = {state: worth(order, state) for state in states_of(held) if not state.pins}
    victim = order.victim()
    if victim is not None and (not hasattr(victim, "kv_end") or is_at_a_state(victim)):
        state = victim.checkpoints[-1] if hasattr(victim, "kv_end") else victim
        assert free[state] == pytest.approx(min(free.values()), rel=1e-9, abs=1e-15)
    elif victim is None:
        assert not free
    for state, recounted in free.items():
        assert state.policy_data.worth == pytest.approx(recounted, rel=1e-9, abs=1e-15)


def is_at_a_state(span):
    return bool(span.checkpoints) and span.checkpoints[-1].position == span.kv_end


def check_losses(held, order):
    """Room that is not free costs what the states of least worth lose, byte by byte."""
    order.losses_of([1])  # weighs what has changed
    states = sorted((worth(order, s), freed_now(s)) for s in states_of(held) if not s.pins)
    rooms = [1, 7, 20, 55, 300]
    expected = []
    for room in rooms:
        loss, left = 0.0, max(0, room - held.pools["unified"].free_bytes)
        for value, freed in states:
            loss += value * min(freed, left)
            left -= min(freed, left)
        expected.append(loss)
    assert order.losses_of(rooms) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def chats_and_branches(rng, count):
    """Return prompts, most of which go on from an earlier one or part from it, and answers."""
    texts, prompts, answers = ["".join(rng.choices("ab", k=6))], [], []
    for number in range(count):
        known = rng.choice(texts[-12:])
        cut = len(known) if rng.random() < 0.6 else rng.randint(0, len(known))
        prompt = known[:cut] + "".join(rng.choices("abc", k=rng.randint(0, 6))) or "a"
        prompts.append(prompt[:40])
        answers.append(chr(500 + number) * rng.randint(0, 4))
        texts.append(prompts[-1] + answers[-1] if rng.random() < 0.8 else rng.choice("abc") * 5)
    return prompts, answers


PLACERS = {"unified": UnifiedPlacer, "wanted": lambda: Wanted(3, 8, 15, end=True)}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("placer", PLACERS)
def test_it_agrees_with_a_recount_after_every_request(seed, placer):
    rng = random.Random(seed)
    prompts, answers = chats_and_branches(rng, 150)
    admission = UnifiedAdmission() if seed % 2 else None
    held, order = cache(
        prompts,
        PLACERS[placer](),
        rng.choice((80, 200, 500)),
        answers,
        admission,
        cut=SPAN if seed == 3 else TAIL,
        state_bytes=rng.choice((2, 10)),
    )
    running = []
    for request in range(len(prompts)):
        running.append(begin(held, request))
        while len(running) > rng.choice((0, 0, 1, 2)):
            finish(held, running.pop(0))
            look = (check_points, check_order, check_losses)[request % 3]
            look(held, order)


# --- by hand -------------------------------------------------------------------------------------


def served_by(order, held, inside=False):
    """Return the positions of the points that each state serves, by position of the state.

    Those of ends and branches, or of the insides of what requests have added.
    """
    return {
        state.position: sorted(
            point.position
            for point in state.policy_data.points
            if what(point.kind)[0].startswith("within") == inside
        )
        for state in states_of(held)
    }


def drop(held, position):
    """Let the cache evict the state at a position."""
    state = next(state for state in states_of(held) if state.position == position)
    held.residency.remove(state)
    return state


class Each(Wanted):
    """Wants other positions in each prompt."""

    def __init__(self, *positions):
        super().__init__()
        self.each = [*positions]

    def place(self, prefix, window):
        return [p for p in self.each[prefix.request] if p > prefix.resume]


def served(prompts, *positions):
    """Return a cache that has served prompts, with states at these positions in each."""
    held, order = cache(prompts, Each(*positions))
    for request in range(len(prompts)):
        serve(held, request)
    return held, order


GROWING = ["abcdef", "abcdefgh", "abcdefghijkl"]


def test_a_state_serves_the_points_below_it_up_to_the_next():
    held, order = served([*GROWING, "z"], [2], [8], [], [])
    assert served_by(order, held) == {2: [6], 8: [8, 12]}


def test_a_state_inside_what_a_request_has_added_serves_its_first_divergence():
    held, order = served([*GROWING, "z"], [2], [7], [12], [])
    assert served_by(order, held, inside=True) == {2: [2], 7: [7], 12: []}
    assert served_by(order, held) == {2: [6], 7: [8], 12: [12]}


def test_one_that_leaves_hands_its_points_to_the_one_above():
    held, order = served([*GROWING, "z"], [2], [8], [12], [])
    drop(held, 8)
    assert served_by(order, held) == {2: [6, 8], 12: [12]}
    drop(held, 12)
    assert served_by(order, held) == {2: [6, 8, 12]}
    drop(held, 2)
    assert not any(point.server for point in points_of(order))


def test_one_that_comes_back_gets_what_lies_below_it_from_the_one_above():
    held, order = cache([*GROWING, "z", "abcdefgh", "y"], Each([2], [8], [12], [], [8], []))
    for request in range(4):
        serve(held, request)
    drop(held, 8)
    drop(held, 12)
    for request in (4, 5):
        serve(held, request)
    assert served_by(order, held) == {2: [6], 8: [8, 12]}


def test_one_that_comes_back_below_no_other_gets_the_points_at_its_position():
    held, order = cache([*GROWING, "z", "abcdefgh", "y"], Each([], [8], [12], [], [8], []))
    for request in range(4):
        serve(held, request)
    drop(held, 12)
    drop(held, 8)
    assert not any(point.server for point in points_of(order))
    for request in (4, 5):
        serve(held, request)
    assert served_by(order, held) == {8: [8]}  # that at 12 is nobody's: nobody has kept it


def test_a_state_in_between_takes_what_lies_below_it_on_its_own_path_only():
    held, order = served(["abcdef", "abXYZW", "abcdefgh", "z"], [2], [], [4], [])
    assert served_by(order, held) == {2: [2, 6], 4: [6, 8]}


def test_a_state_serves_so_many_points_at_most():
    count = 4 * MOST_POINTS
    held, order = cache(["ab", *("ab" + chr(300 + n) for n in range(count)), "z"], Wanted(2))
    for request in range(count + 2):
        serve(held, request)
        assert all(len(state.policy_data.points) <= 2 * MOST_POINTS for state in states_of(held))
    check_points(held, order)


def test_what_prompts_return_to_stays_and_bare_kv_goes_first():
    chat = "abcdefghijklmnopqrst"
    prompts = [chat[:stop] for stop in range(4, 20, 2)]
    held, order = cache([*prompts, "zzzzzzzz", "yyyyyyyyy"], Wanted(end=True), 200)
    for request in range(len(prompts)):
        serve(held, request)
    alone = begin(held, len(prompts))
    finish(held, alone)
    check_order(held, order)
    chat_end = next(state for state in states_of(held) if state.position == 18)
    one_off = next(state for state in states_of(held) if state.position == 8 and "z")
    assert worth(order, chat_end) > worth(order, one_off)
    drop(held, 18)  # the KV behind 16 is bare now
    assert order.victim() is chat_end.span
