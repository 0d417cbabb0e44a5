"""One run of the prototype: a trace, a model, a cache; simulated and measured."""

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
from simulator.scenario import Scenario, cache_of, context_of
from simulator.serving.arrivals import Arrivals
from simulator.serving.fcfs import Fcfs
from simulator.serving.heap_clock import HeapClock
from simulator.serving.priced import PricedExecutor
from simulator.serving.replica import Replica
from simulator.serving.router import RoundRobin
from simulator.trace.trace import Trace

MOST_DIFFERENCE = 1e-4  # of a logit in float32; a wrong state is off by far more


class InexactError(MilepostError):
    """A resumed request does not say what its whole prompt says."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found.

    Parameters
    ----------
    served
        The requests, in the order of the trace.
    sameness
        Of resumed and whole prefills.
    state_bytes
        Of one state, as the tensors have it; 0 where none is held at the end.
    """

    served: tuple[Served, ...]
    sameness: Sameness
    state_bytes: int


class Prototype:
    """Serves one trace through one model, as often as it is asked to.

    Parameters
    ----------
    trace
        With arrival times.
    profile
        Of the model on this machine.
    rules
        Make the policies of each pass, and the capacity.
    model, clock
        What is cached for, and what takes the times.
    seed
        Of the token ids.

    Attributes
    ----------
    records
        Of the last pass, as a simulation writes them.

    Raises
    ------
    UsageError
        As `rules.check_servable` does.
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
        """Count a pass that was served before, as `serve` returned it."""
        self._passes.append(found)

    def serve(self, on_served: Callable[[Served], None] | None = None) -> Pass:
        """Serve the whole trace once, from an empty cache; return what was found.

        Parameters
        ----------
        on_served
            Called with each request.

        Raises
        ------
        InexactError
            If a resumed request in float32 says anything else than the whole prompt does; not
            where kernels are bound, which may round.
        UsageError
            If the policies decide otherwise than in the pass before.
        """
        cache = cache_of(self._trace, self._scenario, self._context)
        priced = PricedExecutor(self._context.costs, self._context.sizes.state_bytes)
        executor = ModelExecutor(self._model, self._trace, cache, priced, self._clock, self._seed)
        served = []

        def note(running: Running) -> None:
            served.append(executor.finish(running))
            if on_served is not None:
                on_served(served[-1])

        self._replay(cache, executor, note)
        sameness = None
        if not self._passes:  # once is enough: every pass computes the same
            sameness = executor.sameness()
            self._refuse_differences(sameness.max_abs)
        self.take(Pass(tuple(served), executor.holdings.state_bytes, sameness))
        return self._passes[-1]

    def outcome(self) -> Outcome:
        """Return what has been found so far; it must have served."""
        sameness = self._passes[0].sameness
        assert sameness is not None
        merged = _merged([found.requests for found in self._passes], self._clock.typical)
        return Outcome(tuple(with_waits(merged)), sameness, self._passes[-1].state_bytes)

    def _replay(
        self, cache: PolicyCache, executor: ModelExecutor, note: Callable[[Running], None]
    ) -> None:
        """Let the trace come to one replica, as in a simulation."""
        trace, clock = self._trace, HeapClock()
        self.records = Records.of(trace)
        replica = Replica(cache, Fcfs, executor, clock, self.records, on_finished=note)
        Arrivals(clock, trace, [replica], RoundRobin()).begin()
        while clock.advance():
            pass
        cache.check()
        cache.tree.clear()

    def _refuse_differences(self, most: float) -> None:
        strict = self._model.dtype.itemsize == 4 and not bound_kernels(self._model.module)
        if strict and not most <= MOST_DIFFERENCE:
            raise InexactError(
                f"a resumed request differs from its whole prefill by {most:.2g} in a logit, which "
                f"is beyond {MOST_DIFFERENCE:g}: the states of this model are not exact"
            )


def _merged(passes: Sequence[Sequence[Served]], typical: Typical) -> list[Served]:
    """Return the requests with their times of all passes."""
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
