"""The bound on what any policy saves: worked by hand, and searched for whatever exceeds it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.placement import PLACERS
from policies.placement.holding import best_holding
from policies.registry import create
from simulator.plugins.context import CUTS, Sizes
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace
from tests.contracts.result_grid import ADMISSIONS, EVICTIONS
from tests.contracts.result_grid import PLACERS as SPECS
from tests.policies.placement.random_traces import traces
from tests.simulator.prompts import toy_profile, trace_of

SHORT = ("block:size=1", "block:size=3", "offsets:start=1+3,end=0+1", "interval:every=2")
PRICED = tuple(s for s in (*SPECS, *SHORT) if not PLACERS[s.partition(":")[0]].implicit)


def test_a_state_that_a_longer_prompt_stores_counts() -> None:
    """Blocks of 512 and an alignment of 528: the state wanted at 1,536 is stored at 1,056."""
    trace = trace_of([tuple(range(1536))] * 5, granularity=512)
    holding = best_holding(trace, Grid(512, 528), Sizes(1, 10), 5000)
    assert holding.resume.tolist() == [0, 1056, 1056, 1056, 1056]
    scenario = Asked("last", alignment=528, capacity_bytes=5000).scenario
    assert saved(simulate(trace, scenario)) == holding.bound_tokens == 4 * 1056


def test_the_shallowest_position_of_a_node_counts() -> None:
    """The state at 4 needs one token of a node that is passed rarely, that at 8 five of them."""
    shared, rest = (1, 2, 3), (4, 5, 6, 7, 8, 9)
    others = [(*shared, 10 + number) for number in range(9)]
    trace = trace_of([(*shared, *rest), *others, (*shared, *rest)])
    holding = best_holding(trace, Grid(1, 4), Sizes(10, 1), 60)
    assert holding.resume.tolist()[-1] == 4


def test_a_turn_resumes_where_the_answer_before_it_ended() -> None:
    first, second = tuple(range(10)), tuple(range(25))
    trace = trace_of([first, second], answers=[tuple(range(10, 20)), ()])
    holding = best_holding(trace, Grid(), Sizes(1, 3))
    assert (holding.resume.tolist(), holding.bound_tokens) == ([0, 20], 20.0)
    assert saved(simulate(trace, Asked("marconi").scenario)) == 20


def test_what_exceeds_the_capacity_alone_does_not_count() -> None:
    trace = trace_of([tuple(range(9))] * 3)
    for capacity, resume in ((2, 0), (3, 0), (4, 1), (7, 4), (11, 8), (100, 8)):
        holding = best_holding(trace, Grid(), Sizes(1, 3), capacity)
        assert holding.bound_tokens == 2 * resume


@dataclass(frozen=True)
class Asked:
    """What is replayed, beside the trace."""

    placer: str
    eviction: str = "lru"
    admission: str = "always"
    alignment: int = 1
    capacity_bytes: int | None = None
    server: str = "instant"
    pools: str = "unified"
    cut: str = "tail"
    count_running: bool = False
    queue_limit: int | None = None
    page_tokens: int = 1
    state_bytes: int = 3

    @property
    def scenario(self) -> Scenario:
        return Scenario(
            profile=toy_profile(1, self.state_bytes, self.page_tokens),
            placer=lambda: create("placer", self.placer),
            eviction=lambda: create("eviction", self.eviction),
            admission=lambda: create("admission", self.admission),
            capacity_bytes=self.capacity_bytes,
            pools=self.pools,
            server=self.server,
            alignment=self.alignment,
            cut=self.cut,
            count_running=self.count_running,
            queue_limit=self.queue_limit,
        )


def saved(result: Result) -> int:
    return int(result.columns["saved_tokens"].sum())


asked = st.builds(
    Asked,
    placer=st.sampled_from(PRICED),
    eviction=st.sampled_from(EVICTIONS),
    admission=st.sampled_from(ADMISSIONS) | st.just("always"),
    alignment=st.integers(1, 6),
    capacity_bytes=st.none() | st.integers(0, 80),
    server=st.sampled_from(["instant", "queue"]),
    pools=st.sampled_from(["unified", "unified", "split:states=2", "split:states=1"]),
    cut=st.sampled_from(CUTS),
    count_running=st.booleans(),
    queue_limit=st.none() | st.integers(1, 3),
    page_tokens=st.integers(1, 3),
    state_bytes=st.sampled_from([1, 3, 10]),
)


@settings(max_examples=400, deadline=None)
@given(trace=traces(), asked=asked)
def test_nothing_exceeds_it(trace: Trace, asked: Asked) -> None:
    room = asked.capacity_bytes
    if asked.pools != "unified" and room is not None:
        room = max(room, 2 * asked.state_bytes)
    if asked.count_running and room is None:
        room = 200

    asked = replace(asked, capacity_bytes=room)
    sizes = Sizes(1, asked.state_bytes, asked.page_tokens)
    holding = best_holding(trace, Grid(trace.granularity, asked.alignment), sizes, room)
    assert holding.saved_tokens <= holding.bound_tokens + 1e-6
    assert saved(simulate(trace, asked.scenario)) <= holding.bound_tokens + 1e-6
