"""Prices of requests that have been served, and their waits. No torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from calibration.prototype.served import Priced, Served
from simulator.costs.cost_model import CostModel
from simulator.serving.priced import PricedExecutor
from simulator.trace.trace import Trace


def priced_anew(requests: Iterable[Served], executor: PricedExecutor) -> list[Served]:
    """Return the same requests at the prices of another profile, waits included."""
    return with_waits(replace(served, priced=_price(served, executor)) for served in requests)


def _price(served: Served, executor: PricedExecutor) -> Priced:
    resume, stop = served.saved_tokens, served.prompt_tokens
    return Priced(*executor.price(resume, resume, stop, served.positions))


def with_waits(served: Iterable[Served]) -> list[Served]:
    """Return the requests with their waits behind simulated and behind measured services."""
    simulated = measured = 0.0  # when the server is free
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
    """Return a trace with its arrival times stretched.

    Parameters
    ----------
    trace
        With arrival times.
    costs
        Of the server.
    load
        The share of the time for which it would be busy if nothing were saved.
    """
    assert trace.arrival_seconds is not None
    last = float(trace.arrival_seconds[-1])
    if not last:
        return trace
    busy = sum(costs.prefill_seconds(0, tokens) for tokens in trace.prompt_tokens.tolist())
    return trace.with_arrivals(trace.arrival_seconds * (busy / load / last))
