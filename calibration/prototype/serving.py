"""One pass over a trace: one prefill at a time, first come first served.

The order of events is that of `simulator.serving.server.QueueServer`, on the simulated clock.
Decisions are made once, so that simulated and measured times are of the same work.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torch import Tensor

from calibration.prototype.executor import Executor
from calibration.prototype.queueing import price
from calibration.prototype.served import Served
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Grant
from simulator.costs.cost_model import CostModel
from simulator.trace.trace import Trace

SAMPLE_EVERY = 4  # of the requests that resume, one in so many is computed whole as well


class Serving:
    """One replica: a cache that decides, costs that price, an executor that does it.

    Parameters
    ----------
    cache
        Unused so far.
    costs, executor
        Of the same model.
    """

    def __init__(self, cache: PolicyCache, costs: CostModel, executor: Executor) -> None:
        self.resumed = 0
        self.sample: list[tuple[int, Tensor]] = []  # request and last logits, of those that resume
        self._cache = cache
        self._costs = costs
        self._executor = executor
        self._now = 0.0

    def serve(self, trace: Trace) -> Iterator[Served]:
        """Yield the requests of a trace with arrival times as they are served.

        Those that arrive at one instant are matched at one instant.
        """
        assert trace.arrival_seconds is not None
        arrivals = trace.arrival_seconds.tolist()
        for arrival, together in groupby(range(len(trace)), key=arrivals.__getitem__):
            for grant in [self._cache.admit(request) for request in together]:
                yield self._serve(grant, arrival)
        self._cache.check()

    def _serve(self, grant: Grant, arrival: float) -> Served:
        cache, holdings = self._cache, self._executor.holdings
        stop, resume = grant.leaf.stop, grant.resume
        # Publishing changes the plan.
        within = tuple(position for position in grant.positions if position <= stop)
        priced = price(self._costs, cache.store.sizes.state_bytes, resume, stop, within)
        executed = self._executor.run(grant)
        self._now = max(self._now, arrival) + priced.service
        cache.publish(grant, self._now)
        cache.release(grant)
        self._executor.keep(grant, executed)
        holdings.check(cache.store.pool, cache.store.sizes)
        self._note(grant, executed.logits)
        return Served(
            request=grant.request,
            arrival_seconds=arrival,
            prompt_tokens=stop,
            overlap_tokens=grant.overlap,
            saved_tokens=resume,
            positions=within,
            priced=priced,
            passes_seconds=(executed.seconds,),
            measured_seconds=executed.seconds,
        )

    def _note(self, grant: Grant, logits: Tensor) -> None:
        """Keep the logits of a sample of the requests that resume."""
        if not grant.resume:
            return
        if self.resumed % SAMPLE_EVERY == 0:
            self.sample.append((grant.request, logits))
        self.resumed += 1
