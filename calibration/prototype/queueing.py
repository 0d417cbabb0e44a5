"""Prices of requests that have been served, and their waits. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from calibration.prototype.served import Priced, Served
from simulator.costs.cost_model import CostModel
from simulator.trace.trace import Trace


def price(
    costs: CostModel, state_bytes: int, resume: int, stop: int, positions: Sequence[int]
) -> Priced:
    """Return what the simulator's servers would take to prefill `(resume, stop]`.

    Parameters
    ----------
    costs
        Of a profile.
    state_bytes
        Of the state that is restored.
    resume, stop
        The pass.
    positions
        Where states are captured, within it.
    """
    return Priced(
        restore=costs.restore_seconds(state_bytes) if resume else 0.0,
        prefill=costs.prefill_seconds(resume, stop),
        capture=costs.capture_seconds(resume, stop, positions),
    )


def priced_anew(requests: Iterable[Served], costs: CostModel, state_bytes: int) -> list[Served]:
    """Return the same requests at the prices of other costs, waits included."""
    return with_waits(
        replace(
            request,
            priced=price(
                costs,
                state_bytes,
                request.saved_tokens,
                request.prompt_tokens,
                request.positions,
            ),
        )
        for request in requests
    )


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
