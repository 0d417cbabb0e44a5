"""Differences of the traffic: lengths, arrivals, sessions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference
from reports.trace.comparison.labels import label_difference
from reports.trace.comparison.lengths import Words, law_differences
from reports.trace.comparison.sides import Float64, Int64, Side
from reports.trace.comparison.statistics import quotient, ratio_apart, summed, variation
from reports.trace.comparison.wording import arrow, change, figure, with_unit
from simulator.trace.trace import NO_SESSION
from workloads.inspection.burstiness import JITTER_SEED, coarse_tick
from workloads.inspection.conversations import turn_pairs
from workloads.ticks import jitter

PROMPTS = Words("prompts are", "longer", "shorter", "as long", "prompt lengths")
OUTPUTS = Words("outputs are", "longer", "shorter", "as long", "output lengths")
PAUSES = Words(
    "the next turns of a session come", "later", "sooner", "as late", "waits for the next turn"
)


def traffic_differences(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    """Yield what differs in lengths, arrivals, sessions and labels, as far as both tell it."""
    a, b = (side.trace for side in sides)
    every = (np.arange(len(a)), np.arange(len(b)))
    lengths = (a.prompt_tokens, b.prompt_tokens)
    yield from law_differences("prompt", PROMPTS, "tokens", sides, every, lengths, chance)
    if a.output_tokens.any() and b.output_tokens.any():
        outputs = (a.output_tokens, b.output_tokens)
        yield from law_differences("output", OUTPUTS, "tokens", sides, every, outputs, chance)
    if all(side.period_seconds is not None for side in sides):
        yield _rate(sides, chance)
        yield from _burstiness(sides, chance)
    if all((trace.session != NO_SESSION).any() for trace in (a, b)):
        yield from _sessions(sides, chance)
    labels = label_difference(sides, chance)
    if labels is not None:
        yield labels


def _rate(sides: tuple[Side, Side], chance: Chance) -> Difference:
    tables = []
    rates = []
    for side in sides:
        assert side.periods is not None
        assert side.period_seconds is not None
        times = side.trace.arrival_seconds
        assert times is not None
        rates.append((len(times) - 1) / float(times[-1]))
        count = np.bincount(side.periods, minlength=len(side.period_seconds))
        tables.append(np.stack([count, side.period_seconds], axis=1))
    a, b = rates
    p_value = None
    if "blocks" in sides[0].units:
        p_value = chance.p_value({"periods": (tables[0], tables[1])}, ratio_apart(quotient))
    if a == b:
        sentence = f"requests come as often ({figure(a)} a second)"
    else:
        how = change(b / a, "more often", "less often", "as often")
        sentence = f"requests come {how} {arrow(a, b, 'a second')}"
    return Difference("rate", "ratio", a, b, "requests/s", b / a, sentence, p_value)


def _burstiness(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    """Yield the cv of the gaps, each beside the mean gap of its trace: bursts, not the rate."""
    gaps = [_gaps(side) for side in sides]
    if any(len(each) < 2 or not each.any() for each in gaps):
        return
    a, b = (float(each.std() / each.mean()) for each in gaps)
    if not a or not b:
        return
    scaled = [each / each.mean() for each in gaps]
    one, other = (np.stack([np.ones(len(g)), g, g**2], axis=1) for g in scaled)
    requests = (np.arange(1, len(scaled[0]) + 1), np.arange(1, len(scaled[1]) + 1))
    tables = summed(sides, requests, (one, other), ("blocks",))
    way = "burstier" if b > a else "more even"
    if a == b:
        sentence = f"arrivals are as bursty: the cv of their gaps is {figure(a)} (Poisson: 1)"
    else:
        verb = "rose" if b > a else "fell"
        sentence = (
            f"arrivals are {way}: the cv of their gaps {verb} from {figure(a)} to {figure(b)} "
            "(Poisson: 1)"
        )
    p_value = chance.p_value(tables, ratio_apart(variation))
    yield Difference("gap_cv", "ratio", a, b, "", b / a, sentence, p_value)


def _gaps(side: Side) -> Float64:
    """Return the gaps between arrivals, spread within their tick where the clock is coarse."""
    times = side.trace.arrival_seconds
    assert times is not None
    tick = coarse_tick(np.unique(times), len(times))
    return np.diff(times if tick is None else jitter(times, tick, JITTER_SEED))


def _sessions(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    firsts = tuple(_first_of_sessions(side) for side in sides)
    turns = [float((side.trace.session != NO_SESSION).sum()) for side in sides]
    a, b = (count / len(first) for count, first in zip(turns, firsts, strict=True))
    requests = tuple(np.flatnonzero(side.trace.session != NO_SESSION) for side in sides)
    columns = tuple(
        np.stack([np.ones(len(request)), np.isin(request, first)], axis=1)
        for request, first in zip(requests, firsts, strict=True)
    )
    tables = summed(sides, (requests[0], requests[1]), (columns[0], columns[1]))
    if a == b:
        sentence = f"sessions have as many turns ({with_unit(a, 'in the mean')})"
    else:
        sentence = (
            f"sessions have {change(b / a, 'more turns', 'fewer turns', 'as many turns')} "
            f"{arrow(a, b, 'in the mean')}"
        )
    p_value = chance.p_value(tables, ratio_apart(quotient))
    yield Difference("turns", "ratio", a, b, "turns a session", b / a, sentence, p_value)
    yield from _pauses(sides, chance)


def _first_of_sessions(side: Side) -> Int64:
    known = np.flatnonzero(side.trace.session != NO_SESSION)
    return known[np.unique(side.trace.session[known], return_index=True)[1]]


def _pauses(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    if any(side.period_seconds is None for side in sides):
        return
    later, waits = [], []
    for side in sides:
        order, follows = turn_pairs(side.trace.session)
        times = side.trace.arrival_seconds
        assert times is not None
        later.append(order[1:][follows])
        waits.append(times[later[-1]] - times[order[:-1][follows]])
    if all(len(each) for each in waits):
        yield from law_differences(
            "turn_wait",
            PAUSES,
            "seconds",
            sides,
            (later[0], later[1]),
            (waits[0], waits[1]),
            chance,
            least=1e-3,
            quantiles=("median",),
        )
