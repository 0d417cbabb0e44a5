"""Differences of the traffic: lengths, arrivals, sessions and labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reports.trace.comparison.chance import Chance, Tables
from reports.trace.comparison.differences import Difference, ratio
from reports.trace.comparison.laws import LengthLaw, label_difference, law_differences
from reports.trace.comparison.sides import Float64, Sides, seconds_of
from reports.trace.comparison.statistics import (
    quotient,
    quotients_of,
    ratio_apart,
    summed,
    variation,
)
from reports.trace.comparison.wording import arrow, change, moved
from simulator.trace.trace import NO_SESSION, Trace
from workloads.inspection.burstiness import JITTER_SEED, coarse_tick
from workloads.inspection.conversations import turn_pairs
from workloads.ticks import jitter

BOTH = ("median", "p90")
PROMPTS = LengthLaw("prompt", "prompts are", "longer", "shorter", "as long", "prompt lengths", BOTH)
OUTPUTS = LengthLaw("output", "outputs are", "longer", "shorter", "as long", "output lengths", BOTH)
PAUSES = LengthLaw(
    "turn_wait",
    "the next turns of a session come",
    "later",
    "sooner",
    "as late",
    "waits for the next turn",
)


def traffic_differences(sides: Sides, chance: Chance) -> Iterator[Difference]:
    """Yield the differences in lengths, arrivals, sessions and labels that both traces record."""
    traces = [side.trace for side in sides]
    prompts = [trace.prompt_tokens for trace in traces]
    yield from law_differences(PROMPTS, "tokens", sides, prompts, chance)
    outputs = [trace.output_tokens for trace in traces]
    if all(each.any() for each in outputs):
        yield from law_differences(OUTPUTS, "tokens", sides, outputs, chance)
    timed = all(side.periods is not None for side in sides)
    if timed:
        yield _rate(sides, chance)
        yield from _burstiness(sides, chance)
    if all((trace.session != NO_SESSION).any() for trace in traces):
        yield _turns(sides, chance)
        if timed:
            yield from _pauses(sides, chance)
    labels = label_difference(sides, chance)
    if labels is not None:
        yield labels


def _rate(sides: Sides, chance: Chance) -> Difference:
    times = [seconds_of(side.trace) for side in sides]
    a, b = ((len(each) - 1) / float(each[-1]) for each in times)
    periods = [side.periods for side in sides if side.periods is not None]
    tables: Tables = {"periods": periods} if "blocks" in sides[0].units else {}
    how = change(a, b, "more often", "less often", "as often")
    sentence = f"requests come {how} {arrow(a, b, 'a second')}"
    p_value = chance.p_value(tables, ratio_apart(quotient))
    return ratio("rate", a, b, "requests/s", sentence, p_value)


def _burstiness(sides: Sides, chance: Chance) -> Iterator[Difference]:
    """Yield the difference in the gaps' coefficient of variation, which a change of rate leaves."""
    gaps = [_gaps(side.trace) for side in sides]
    if any(len(each) < 2 or not each.any() for each in gaps):
        return
    a, b = (float(each.std() / each.mean()) for each in gaps)
    if not a or not b:
        return
    scaled = [each / each.mean() for each in gaps]
    columns = [np.stack([np.ones(len(each)), each, each**2], axis=1) for each in scaled]
    ends = [np.arange(1, len(each) + 1) for each in gaps]  # the request after each gap
    tables = summed(sides, columns, ends, ["blocks"])
    way = "as bursty" if a == b else "burstier" if b > a else "more even"
    sentence = f"arrivals are {way}: the cv of their gaps {moved(a, b, '')} (Poisson: 1)"
    yield ratio("gap_cv", a, b, "", sentence, chance.p_value(tables, ratio_apart(variation)))


def _gaps(trace: Trace) -> Float64:
    """Return the gaps between arrivals, spread within their tick where the clock is coarse."""
    times = seconds_of(trace)
    tick = coarse_tick(np.unique(times), len(times))
    return np.diff(times if tick is None else jitter(times, tick, JITTER_SEED))


def _turns(sides: Sides, chance: Chance) -> Difference:
    requests, columns = [], []
    for session in (side.trace.session for side in sides):
        request = np.flatnonzero(session != NO_SESSION)
        begins = np.zeros(len(request))
        begins[np.unique(session[request], return_index=True)[1]] = 1
        requests.append(request)
        columns.append(np.stack([np.ones(len(request)), begins], axis=1))
    a, b = quotients_of(columns)
    how = change(a, b, "more turns", "fewer turns", "as many turns")
    sentence = f"sessions have {how} {arrow(a, b, 'in the mean')}"
    p_value = chance.p_value(summed(sides, columns, requests), ratio_apart(quotient))
    return ratio("turns", a, b, "turns a session", sentence, p_value)


def _pauses(sides: Sides, chance: Chance) -> Iterator[Difference]:
    requests, waits = [], []
    for trace in (side.trace for side in sides):
        order, follows = turn_pairs(trace.session)
        times, later = seconds_of(trace), order[1:][follows]
        requests.append(later)
        waits.append(times[later] - times[order[:-1][follows]])
    if all(len(each) for each in waits):
        yield from law_differences(PAUSES, "seconds", sides, waits, chance, requests)
