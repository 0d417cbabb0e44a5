"""A prototype run: serves a trace through a model and a cache, simulated and measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from calibration.clock import CallClock
from calibration.fit.points import Typical
from calibration.models.bound import bound_kernels
from calibration.models.hybrid import HybridModel
from calibration.prototype.executor import ModelExecutor
from calibration.prototype.queueing import with_waits
from calibration.prototype.rules import Rules, check_servable
from calibration.prototype.served import Pass, Sameness, Served
from simulator.base.errors import MilepostError, UsageError
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Running
from simulator.costs.profile import Profile
from simulator.results.records import Records
from simulator.scenario import Scenario, context_of, policy_cache_of
from simulator.serving.arrivals import Arrivals
from simulator.serving.fcfs import Fcfs
from simulator.serving.heap_clock import HeapClock
from simulator.serving.priced import PricedExecutor
from simulator.serving.replica import Replica
from simulator.serving.router import RoundRobin
from simulator.trace.trace import Trace

MOST_DIFFERENCE = 1e-4  # of a logit in float32; a wrong state differs by far more


class InexactError(MilepostError):
    """A resumed request whose logits differ from those of an uninterrupted prefill."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a prototype run: a trace served by a real model.

    Parameters
    ----------
    served
        The requests, in trace order.
    sameness
        Difference between resumed and uninterrupted prefills.
    state_bytes
        Bytes of one state tensor; 0 if none is stored at the end.
    """

    served: tuple[Served, ...]
    sameness: Sameness
    state_bytes: int


class Prototype:
    """Serves one trace through one model, repeatedly if asked.

    Parameters
    ----------
    trace
        Requests with arrival times.
    profile
        Cost profile of the model on this machine.
    rules
        Policies (created anew for each pass) and capacity.
    model, clock
        The model, and the clock that measures it.
    seed
        Seed of the token ids.

    Attributes
    ----------
    records
        Simulated records of the last pass.

    Raises
    ------
    UsageError
        See `rules.check_servable`.
    """

    def __init__(
        self,
        trace: Trace,
        profile: Profile,
        rules: Rules,
        model: HybridModel,
        clock: CallClock,
        seed: int = 0,
    ) -> None:
        check_servable(trace, rules)
        self._trace = trace
        self._scenario = Scenario(
            profile, rules.placer, rules.eviction, rules.admission, rules.capacity_bytes
        )
        self._context = context_of(trace, self._scenario)
        self._model = model
        self._clock = clock
        self._seed = seed
        self._passes: list[Pass] = []

    def take(self, found: Pass) -> None:
        """Add the result of an earlier pass, as returned by `serve`."""
        self._passes.append(found)

    def serve(self, on_served: Callable[[Served], None] | None = None) -> Pass:
        """Serve the whole trace once with an initially empty cache, and return the results.

        Parameters
        ----------
        on_served
            Called with each served request.

        Raises
        ------
        InexactError
            If logits of a resumed request in float32 differ from those of an uninterrupted prefill.
            Not raised if optimised kernels are in use, since they may round.
        UsageError
            If the policies decide differently than in an earlier pass.
        """
        cache = policy_cache_of(self._trace, self._scenario, self._context)
        priced = PricedExecutor(self._context.costs, self._context.sizes.state_bytes)
        executor = ModelExecutor(self._model, self._trace, cache, priced, self._clock, self._seed)
        served = []

        def note(running: Running) -> None:
            served.append(executor.finish(running))
            if on_served is not None:
                on_served(served[-1])

        self._replay(cache, executor, note)
        sameness = None
        if not self._passes:  # only once, since every pass computes the same
            sameness = executor.sameness()
            self._refuse_differences(sameness.max_abs)
        self.take(Pass(tuple(served), executor.holdings.state_bytes, sameness))
        return self._passes[-1]

    def outcome(self) -> Outcome:
        """Return the results of all passes so far, of which there must be at least one."""
        sameness = self._passes[0].sameness
        assert sameness is not None
        merged = _merged([found.requests for found in self._passes], self._clock.typical)
        return Outcome(tuple(with_waits(merged)), sameness, self._passes[-1].state_bytes)

    def _replay(
        self, cache: PolicyCache, executor: ModelExecutor, note: Callable[[Running], None]
    ) -> None:
        """Run the trace on one replica, as in a simulation."""
        trace, clock = self._trace, HeapClock()
        self.records = Records.of(trace)
        replica = Replica(cache, Fcfs, executor, clock, self.records, on_finished=note)
        Arrivals(clock, trace, [replica], RoundRobin()).begin()
        while clock.advance():
            pass
        cache.check()
        cache.tree.clear()

    def _refuse_differences(self, most: float) -> None:
        """Raise InexactError if logits of resumed requests differ too much, in float32."""
        strict = self._model.dtype.itemsize == 4 and not bound_kernels(self._model.module)
        if strict and not most <= MOST_DIFFERENCE:
            raise InexactError(
                f"a resumed request differs from its whole prefill by {most:.2g} in a logit, which "
                f"is beyond {MOST_DIFFERENCE:g}: the states of this model are not exact"
            )


def _merged(passes: Sequence[Sequence[Served]], typical: Typical) -> list[Served]:
    """Merge the measured times of all passes for each request."""
    merged = []
    for together in zip(*passes, strict=True):
        first = together[0]
        decided = {(request.saved_tokens, request.positions) for request in together}
        if len(decided) > 1:
            raise UsageError(
                f"the policies decide otherwise when the trace is served again (request "
                f"{first.request}): such policies cannot be compared"
            )
        seconds = tuple(request.measured_seconds for request in together)
        counts = median(seconds) if typical == "median" else min(seconds)
        merged.append(replace(first, passes_seconds=seconds, measured_seconds=counts))
    return merged
