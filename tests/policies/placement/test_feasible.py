"""Plans that fit into a cache: worked by hand, replayed exactly, and against other placers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.placement.feasible import FeasiblePlan
from policies.placement.holding import ResumeOptions
from policies.placement.rehearsal import Planned
from policies.placement.schedule import planned_schedule
from policies.registry import create
from simulator.plugins.context import Sizes
from simulator.plugins.protocols import Placer
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace
from tests.policies.placement.random_traces import traces
from tests.simulator.prompts import toy_profile, trace_of

STATE_BYTES = 3


def plan_of(trace: Trace, capacity: int | None, alignment: int = 1) -> FeasiblePlan:
    grid = Grid(trace.granularity, alignment)
    options = ResumeOptions.of(trace, grid, Sizes(1, STATE_BYTES))
    return FeasiblePlan(trace, options, capacity)


def test_of_two_prompts_in_turn_one_is_held_where_both_have_no_room() -> None:
    trace = trace_of([(1, 2, 3, 4), (5, 6, 7, 8)] * 2)
    for capacity, resume in ((5, [0, 0, 2, 0]), (11, [0, 0, 3, 0]), (12, [0, 0, 3, 3])):
        assert plan_of(trace, capacity).resume == resume


def test_a_state_is_held_longer_where_the_last_request_resumes_behind_it() -> None:
    """The third request resumes at 4, and so cannot write the state at 2 for the fourth."""
    trace = trace_of([(1, 2, 3, 4, 5), (1, 2, 6), (1, 2, 3, 4, 7), (1, 2, 8)])
    plan = plan_of(trace, 100)
    assert plan.resume == [0, 2, 4, 2]
    prefix = plan.prefixes.number[plan.prefixes.node[1], 2]
    assert list(plan.occupancy.uses[prefix][:3]) == [2, 1, 1]
    assert list(plan.occupancy.kept[prefix][:3]) == [0, 1, 1]


def test_a_node_that_leaves_as_a_whole_needs_room_for_all_of_it() -> None:
    """Two tokens of four, and their state, take 5 bytes, or 7 with the rest of the node."""
    trace = trace_of([(1, 2, 3, 4)] * 2)
    options = ResumeOptions.of(trace, Grid(), Sizes(1, STATE_BYTES))
    assert FeasiblePlan(trace, options, 5).resume == [0, 2]
    assert FeasiblePlan(trace, options, 5, whole_nodes=True).resume == [0, 0]


def test_states_are_written_in_answers() -> None:
    trace = trace_of([(1, 2), (1, 2, 3, 4, 5, 6)], answers=[(3, 4), ()])
    assert plan_of(trace, 100).resume == [0, 4]
    assert saved_by(trace, "clairvoyant", "lru", 100, "instant") == 4


def replayed(
    trace: Trace,
    placer: str | Placer,
    eviction: str,
    capacity: int,
    alignment: int = 1,
    page_tokens: int = 1,
    server: str = "instant",
) -> Result:
    """Replay a trace in a small cache."""
    scenario = Scenario(
        profile=toy_profile(1, STATE_BYTES, page_tokens),
        placer=lambda: create("placer", placer) if isinstance(placer, str) else placer,
        eviction=lambda: create("eviction", eviction),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity,
        alignment=alignment,
        server=server,
        check_every_request=True,
    )
    return simulate(trace, scenario)


def saved_by(trace: Trace, placer: str, eviction: str, capacity: int, server: str) -> int:
    result = replayed(trace, placer, eviction, capacity, server=server)
    return int(result.columns["saved_tokens"].sum())


@settings(max_examples=200, deadline=None)
@given(
    trace=traces(),
    capacity=st.integers(0, 60),
    alignment=st.integers(1, 5),
    page_tokens=st.integers(1, 3),
)
def test_a_cache_that_follows_a_plan_does_what_is_planned(
    trace: Trace, capacity: int, alignment: int, page_tokens: int
) -> None:
    """Unless a request finds a state that was not to be held any longer, and takes its room."""
    options = ResumeOptions.of(
        trace, Grid(trace.granularity, alignment), Sizes(1, STATE_BYTES, page_tokens)
    )
    plan = FeasiblePlan(trace, options, capacity)
    assert plan.saved_tokens <= options.holding(capacity).bound_tokens + 1e-6
    planned = Planned(planned_schedule(trace, plan), plan)
    result = replayed(trace, planned, "clairvoyant", capacity, alignment, page_tokens)
    resumed = result.columns["saved_tokens"].tolist()
    if all(found <= meant for found, meant in zip(resumed, plan.resume, strict=True)):
        assert resumed == plan.resume


@settings(max_examples=60, deadline=None)
@given(
    trace=traces(),
    capacity=st.integers(0, 60),
    eviction=st.sampled_from(["lru", "fifo", "value", "belady", "clairvoyant", "arc"]),
    server=st.sampled_from(["instant", "queue"]),
)
def test_no_placer_that_it_rehearses_saves_more(
    trace: Trace, capacity: int, eviction: str, server: str
) -> None:
    saved = saved_by(trace, "clairvoyant", eviction, capacity, server)
    for placer in ("last", "branch", "adaptive"):
        assert saved_by(trace, placer, eviction, capacity, server) <= saved
