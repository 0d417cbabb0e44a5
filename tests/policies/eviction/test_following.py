"""What a plan needs of a cache, worked by hand, and who is told of plans and rehearsals."""

from __future__ import annotations

from policies.eviction.base import BaseEviction
from policies.eviction.clairvoyant import ClairvoyantEviction
from policies.eviction.following import Needs
from policies.placement.feasible import FeasiblePlan
from policies.placement.holding import ResumeOptions
from policies.placement.last import Last
from policies.registry import create
from simulator.plugins.context import CacheContext, Sizes
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.protocols import EvictionPolicy, Placer
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace
from tests.simulator.prompts import toy_profile, trace_of


def test_a_beginning_of_a_span_is_needed_until_its_use() -> None:
    trace = trace_of([(1, 2, 3, 4), (5, 6), (1, 2, 3, 4)])
    plan = FeasiblePlan(trace, ResumeOptions.of(trace, Grid(), Sizes(1, 3)), 100)
    needs = Needs(plan)
    span = KvSpan(None, 0, 4, int(trace.leaf[0]))
    state, other = Checkpoint(span, 3, 3), Checkpoint(span, 4, 3)
    span.kv_end, span.checkpoints = 3, [state]
    assert (needs.until(span, 0), needs.until(state, 0)) == (2, 2)
    assert (needs.until(span, 2), needs.until(state, 2)) == (2, 2)  # not needed any more
    span.kv_end, span.checkpoints = 4, [state, other]
    assert (needs.until(span, 0), needs.until(other, 0)) == (0, 0)
    assert needs.state_behind(span, 0) is other


class Told(BaseEviction):
    """Notes what it is told before the first request."""

    contexts: list[CacheContext] = []  # noqa: RUF012

    def begin(self, context: CacheContext) -> None:
        self.contexts.append(context)


class Ahead(Told):
    """The same, as a policy that looks ahead."""

    clairvoyant = True
    contexts: list[CacheContext] = []  # noqa: RUF012


def served(trace: Trace, placer: Placer, eviction: EvictionPolicy) -> int:
    scenario = Scenario(
        profile=toy_profile(1, 3),
        placer=lambda: placer,
        eviction=lambda: eviction,
        admission=lambda: create("admission", "always"),
        capacity_bytes=100,
        server="instant",
    )
    return int(simulate(trace, scenario).columns["saved_tokens"].sum())


def test_who_does_not_look_ahead_is_told_of_no_placer_and_cannot_rehearse() -> None:
    trace, placer = trace_of([(1, 2), (1, 2, 3)]), Last()
    for policy in (Told(), Ahead()):
        assert served(trace, placer, policy) == 2
    (blind,), (ahead,) = Told.contexts, Ahead.contexts
    assert (blind.trace, blind.placer, blind.rehearse) == (None, None, None)
    assert (ahead.trace, ahead.placer, ahead.rehearse) == (trace, placer, None)


def test_it_follows_plans_of_the_clairvoyant_placer_alone() -> None:
    """The second prompt does not return, and takes no room from the first, which does."""
    trace = trace_of([(1, 2, 3), (4, 5, 6), (1, 2, 3), (4, 7), (1, 2, 3)])
    scenario = Scenario(
        profile=toy_profile(1, 3),
        placer=lambda: create("placer", "clairvoyant"),
        eviction=ClairvoyantEviction,
        admission=lambda: create("admission", "always"),
        capacity_bytes=5,
        server="instant",
        check_every_request=True,
    )
    assert simulate(trace, scenario).columns["saved_tokens"].tolist() == [0, 0, 2, 0, 2]
