"""One run of the prototype: a trace, a model, a cache; simulated and measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calibration.clock import Clock
from calibration.fit.points import Typical
from calibration.models.hybrid import HybridModel
from calibration.prototype.executor import Executor
from calibration.prototype.queueing import with_waits
from calibration.prototype.rules import Rules, check_servable
from calibration.prototype.served import Sameness, Served
from calibration.prototype.serving import Serving
from simulator.cache import PolicyCache
from simulator.cost import CostModel
from simulator.errors import MilepostError, UsageError
from simulator.grid import Grid
from simulator.profile import Profile
from simulator.trace import Trace
from simulator.world import Sizes, World

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
        Makes the policies and the capacity anew for each pass: policies remember.
    model, clock
        What is cached for, and what takes the times.
    seed
        Of the token ids.

    Raises
    ------
    UsageError
        If the trace has no request or no arrival times, or the placer holds states for free.
    """

    def __init__(
        self,
        trace: Trace,
        profile: Profile,
        rules: Callable[[], Rules],
        model: HybridModel,
        clock: Clock,
        seed: int = 0,
    ) -> None:
        check_servable(trace, rules())
        self._trace = trace
        self._profile = profile
        self._rules = rules
        self._model = model
        self._clock = clock
        self._seed = seed
        self._passes: list[list[Served]] = []
        self._sameness: Sameness | None = None
        self._state_bytes = 0

    def serve(self, on_served: Callable[[Served], None] | None = None) -> None:
        """Serve the whole trace once, from an empty cache.

        Parameters
        ----------
        on_served
            Called with each request.

        Raises
        ------
        InexactError
            If a resumed request in float32 says anything else than the whole prompt does.
        UsageError
            If the policies decide otherwise than in the pass before.
        """
        rules, profile = self._rules(), self._profile
        world = World(
            Sizes(profile.kv_bytes_per_token, profile.state_bytes, profile.page_tokens),
            Grid(self._trace.granularity, profile.alignment),
            CostModel(profile),
            rules.capacity_bytes,
        )
        cache = PolicyCache(self._trace, world, rules.placer, rules.admission, rules.eviction)
        executor = Executor(self._model, self._trace, cache.runs, self._clock, self._seed)
        serving = Serving(cache, world.costs, executor)
        served = []
        for request in serving.serve(self._trace):
            served.append(request)
            if on_served is not None:
                on_served(request)
        cache.runs.clear()
        self._state_bytes = executor.holdings.state_bytes
        if self._sameness is None:
            strict = self._model.dtype.itemsize == 4
            self._sameness = _sameness(executor, serving, strict=strict)
        self._passes.append(served)

    def outcome(self) -> Outcome:
        """Return what has been found so far; it must have served."""
        assert self._sameness is not None
        merged = _merged(self._passes, self._clock.typical)
        return Outcome(tuple(with_waits(merged)), self._sameness, self._state_bytes)


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
        ordered = sorted(seconds)
        counts = ordered[len(ordered) // 2 if typical == "median" else 0]
        merged.append(replace(first, passes_seconds=seconds, measured_seconds=counts))
    return merged


def _sameness(executor: Executor, serving: Serving, *, strict: bool) -> Sameness:
    """Compare resumed requests with whole prefills of their prompts."""
    most = 0.0
    for request, logits in serving.sample:
        most = max(most, float((executor.whole_prefill(request) - logits).abs().max()))
    if strict and not most <= MOST_DIFFERENCE:
        raise InexactError(
            f"a resumed request differs from its whole prefill by {most:.2g} in a logit, which is "
            f"beyond {MOST_DIFFERENCE:g}: the states of this model are not exact"
        )
    return Sameness(len(serving.sample), serving.resumed, most)
