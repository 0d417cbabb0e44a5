"""Simulated service and waiting times of served requests; needs no torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from calibration.prototype.served import Priced, Served
from simulator.costs.cost_model import CostModel
from simulator.serving.priced import PricedExecutor
from simulator.trace.trace import Trace


def priced_anew(requests: Iterable[Served], executor: PricedExecutor) -> list[Served]:
    """Return served requests with simulated times of another profile, including new waits."""
    return with_waits(replace(served, priced=_price(served, executor)) for served in requests)


def _price(served: Served, executor: PricedExecutor) -> Priced:
    """Return the simulated times of a served request."""
    resume, stop = served.saved_tokens, served.prompt_tokens
    return Priced(*executor.price(resume, resume, stop, served.positions))


def with_waits(served: Iterable[Served]) -> list[Served]:
    """Return requests with their waiting times in a simulated and in a measured queue.

    The two queues have the same arrivals, but simulated and measured service times.
    """
    simulated = measured = 0.0  # times at which the server becomes free
    result = []
    for request in served:
        arrival = request.arrival_seconds
        waits = max(0.0, simulated - arrival), max(0.0, measured - arrival)
        result.append(
            replace(request, simulated_wait_seconds=waits[0], measured_wait_seconds=waits[1])
        )
        simulated = arrival + waits[0] + request.priced.service
        measured = arrival + waits[1] + request.measured_seconds
    return result


def at_load(trace: Trace, costs: CostModel, load: float) -> Trace:
    """Return the trace with arrival times rescaled to a given load.

    Parameters
    ----------
    trace
        Requests with arrival times.
    costs
        Cost model of the server.
    load
        Fraction of time the server would be busy without a cache.
    """
    assert trace.arrival_seconds is not None
    last = float(trace.arrival_seconds[-1])
    if not last:
        return trace
    busy = sum(costs.prefill_seconds(0, tokens) for tokens in trace.prompt_tokens.tolist())
    return trace.with_arrivals(trace.arrival_seconds * (busy / load / last))
