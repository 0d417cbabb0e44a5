"""Placement by what states are worth, against all subsets of candidates at the same prices."""

from __future__ import annotations

from itertools import accumulate, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.placement.unified import UnifiedPlacer
from policies.tryout import serve
from simulator.plugins.context import Sizes
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Prefix, Window
from simulator.trace.grid import Grid
from tests.simulator.caches import context_of

KV_BYTES, STATE_BYTES = 2, 10


class Order:
    """States with what each loses a request and the bytes that it frees; the least goes first."""

    orders_kv = True

    def __init__(self, states, asked=True):
        self.states = sorted(states, key=lambda state: state[0] / state[1])
        self.asked = asked

    def loss_of(self, size_bytes):
        loss = 0.0
        for lost, freed in self.states:
            loss += lost * min(freed, size_bytes) / freed
            size_bytes -= min(freed, size_bytes)
        return loss

    def losses_of(self, rooms):
        assert rooms == sorted(rooms)
        return [self.loss_of(room) for room in rooms]


class Points:
    """Gives the same candidates for every prompt."""

    def __init__(self, candidates):
        self.chosen = candidates

    def candidates(self, prefix):
        return self.chosen


def placed(candidates, order, resume=0, resident=0, grid=None, length=100, **parameters):
    """Return where a placer wants states among candidates; KV is resident up to a position."""
    placer = UnifiedPlacer(1e6, **parameters)
    context = context_of(1000, kv_bytes=KV_BYTES, state_bytes=STATE_BYTES)
    placer.begin(context)
    placer._grid = grid or Grid()
    placer._worth.points = Points(candidates)
    placer._worth.order = order
    root = KvSpan(None, -1, 0)
    root.kv_end = 0
    above = root
    if resident:
        above = KvSpan(root, 0, resident)
        above.kv_end, above.size_bytes = resident, resident * KV_BYTES
    span = KvSpan(above, resident, length)
    prefix = Prefix(length, resume, max(resume, resident), 1, -1, -1, span)
    return placer.place(prefix, Window(resume, length))


def saved(positions, weights, chosen, resume):
    """Return what states save: each position has uses that resume from the state above it."""
    return sum(
        weight * (max((p for p in chosen if p <= position), default=resume) - resume)
        for position, weight in zip(positions, weights, strict=True)
    )


def subsets(positions):
    for size in range(len(positions) + 1):
        yield from combinations(positions, size)


CANDIDATES = st.lists(
    st.tuples(st.integers(1, 30), st.floats(0.25, 2.0), st.floats(0.001, 0.5)), max_size=5
)
STATES = st.lists(st.tuples(st.floats(0.0, 30.0), st.integers(5, 200)), max_size=6)


@given(
    steps=CANDIDATES,
    states=STATES,
    resume=st.integers(0, 20),
    ahead=st.integers(0, 60),
)
def test_it_is_the_best_of_all_subsets_less_what_the_room_would_save(steps, states, resume, ahead):
    positions = [resume + depth for depth in accumulate(step for step, *_ in steps)]
    uses, rates = ([value for *_, value in chosen] for chosen in ([s[:2] for s in steps], steps))
    length, resident = 10 + resume + sum(step for step, *_ in steps), resume + ahead
    resident = min(resident, length - 1)
    candidates = list(zip(positions, uses, rates, strict=True))[::-1]
    order = Order(states)
    chosen = placed(candidates, order, resume, resident, length=length)
    # At first each must save its work, which is a token, by all its uses.
    work = {s: saved(positions, uses, s, resume) - len(s) for s in subsets(positions)}
    most = max(work.values())
    worth_work = [s for s, value in work.items() if value == pytest.approx(most, abs=1e-9)]
    best = []
    for candidates_left in worth_work:
        values = {(): 0.0}
        for number, deepest in enumerate(candidates_left, 1):
            kv_bytes = max(0, deepest - resident) * KV_BYTES
            room = kv_bytes + number * STATE_BYTES
            price = order.loss_of(room) / room
            for few in subsets(candidates_left[:number]):
                gain = saved(positions, rates, few, resume)
                value = gain - price * (kv_bytes + len(few) * STATE_BYTES)
                values[few] = max(value, values.get(few, value))
        best.append((values.get(tuple(chosen)), max(values.values())))
    assert any(mine is not None and mine == pytest.approx(other, abs=1e-9) for mine, other in best)


def test_while_there_was_always_room_work_alone_counts():
    candidates = [(50, 0.5, 0.001), (20, 0.2, 0.001)]
    order = Order([(1000.0, 500)], asked=False)
    assert placed(candidates, order) == [20, 50]  # 50 x .5 and 20 x .2 tokens, each above one
    assert placed(candidates, Order([(1000.0, 500)])) == []
    assert placed(candidates, None) == [20, 50]


def test_the_kv_that_a_state_needs_counts_where_it_is_not_there():
    order = Order([(0.1, 20), (2.0, 200)])
    candidates = [(60, 1.0, 0.02)]  # it saves 1.2 tokens a request
    assert placed(candidates, order, resident=60) == [60]  # ten bytes: .05
    assert placed(candidates, order, resident=30) == [60]  # 70 bytes: .1 + 50 / 200 x 2 = .6
    assert placed(candidates, order) == []  # 130 bytes: .1 + 110 / 200 x 2 = 1.2
    assert placed([(60, 1.0, 0.021)], order) == [60]


def test_a_shallower_set_may_be_worth_its_room_where_the_deepest_is_not():
    order = Order([(0.2, 60), (50.0, 1000)])
    candidates = [(60, 0.5, 0.01), (20, 2.0, 0.2)]
    assert placed(candidates, Order([])) == [20, 60]
    assert placed(candidates, order) == [20]


def test_points_that_are_rounded_down_to_one_position_count_together():
    order = Order([(1.5, 30), (100.0, 1000)])
    grid = Grid(alignment=16)
    assert placed([(40, 0.5, 0.02)], order, resident=40, grid=grid) == [40]
    assert placed([(40, 0.5, 0.01)], order, resident=40, grid=grid) == []
    assert placed([(40, 0.5, 0.01), (33, 0.5, 0.01)], order, resident=40, grid=grid) == [33]
    assert placed([(10, 9.0, 9.0)], Order([]), grid=grid) == []  # rounded down to nothing


def test_seconds_are_those_of_the_prefill():
    candidates = [(60, 1.0, 0.02)]
    for aim in ("tokens", "seconds"):  # the toy takes a second for each token
        assert placed(candidates, Order([(0.5, 50)]), resident=60, aim=aim) == [60]
    with pytest.raises(ValueError, match="aim"):
        UnifiedPlacer(aim="hope")


@pytest.mark.parametrize("rate", [0.0, -1.0, 1e7])
def test_the_rate_is_bounded(rate):
    with pytest.raises(ValueError, match="rate"):
        UnifiedPlacer(rate)


def test_long_prompts_that_come_once_do_not_replace_chats_that_go_on():
    """Beside a chat of up to 18 tokens there is no room for a document of 30."""
    prompts, labels = [], []
    for number in range(80):
        for turn in (6, 12, 18):
            prompts += [chr(1000 + number) * turn, chr(3000 + 30 * number + turn) * 30]
            labels += [0, 1]
    sizes = {"capacity_bytes": 40, "state_bytes": 4, "labels": labels}
    assert sum(serve(prompts, placer="last", **sizes).saved) == 0
    policies = {"placer": "unified", "eviction": "unified", "admission": "unified"}
    saved = serve(prompts, **policies, **sizes).saved
    assert saved[120:] == [0, 0, 6, 0, 12, 0] * 60  # all that can be, once it knows the two


def test_sizes_are_those_of_the_cache():
    placer = UnifiedPlacer()
    context = context_of(1000, kv_bytes=3, state_bytes=7)
    placer.begin(context)
    assert context.sizes == Sizes(placer._kv_bytes, placer._state_bytes)
