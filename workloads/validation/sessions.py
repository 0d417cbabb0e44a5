"""Anomalies of sessions: turns that do not continue the previous one, and copied sessions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import NO_SESSION
from workloads.anomaly import Anomaly
from workloads.inspection.conversations import continues, turn_pairs
from workloads.prefixes.numbering import Int64
from workloads.text.templates.notes import noted_template
from workloads.validation.facts import Facts

LEAST_TURNS = 3  # the lengths of fewer turns may be equal by chance
COMPARED_TURNS = 10


def session_anomalies(facts: Facts) -> Iterator[Anomaly]:
    """Yield the anomalies of sessions, if the trace has any sessions."""
    trace = facts.trace
    missing = trace.session == NO_SESSION
    if missing.all():
        return
    yield from facts.in_requests("no-session", missing, "other requests have a session")
    order, follows = turn_pairs(trace.session)
    before, later = order[:-1][follows], order[1:][follows]
    yield from _turns(facts, before, later)
    yield from _copies(facts, order, follows)


def _turns(facts: Facts, before: Int64, later: Int64) -> Iterator[Anomaly]:
    trace = facts.trace
    shorter = np.zeros(len(trace), dtype=np.bool_)
    shorter[later] = trace.prompt_tokens[later] < trace.prompt_tokens[before]
    hint = facts.hint("rows", ": do rows hold the whole context (--rows)?")
    detail = f"shorter than the turn before{hint}"
    yield from facts.in_requests("shrinking-turn", shorter, detail)
    if not (facts.prefix >= 0).any():
        return
    other = np.zeros(len(trace), dtype=np.bool_)
    other[later] = ~continues(trace, before, later)
    detail = "does not begin with the whole prompt of the turn before"
    template = noted_template(trace.notes)
    if template is not None and template.startswith(("qwen3.5", "qwen3.6")):
        detail += f": {template} ends prompts with words that the history leaves out"
    yield from facts.in_requests("other-beginning", other & ~shorter, detail)


def _copies(facts: Facts, order: Int64, follows: NDArray[np.bool_]) -> Iterator[Anomaly]:
    """Yield a warning for sessions whose turns have the same lengths as those of an earlier one."""
    trace = facts.trace
    pairs = np.stack([trace.prompt_tokens, trace.output_tokens], axis=1)[order]
    starts = np.concatenate([[0], np.flatnonzero(~follows) + 1])
    stops = np.concatenate([starts[1:], [len(order)]])
    seen: set[bytes] = set()
    whole: set[bytes] = set()
    same = np.zeros((2, len(trace)), dtype=np.bool_)
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        if stop - start < LEAST_TURNS:
            continue
        head = pairs[start : min(stop, start + COMPARED_TURNS)].tobytes()
        every = pairs[start:stop].tobytes()
        if every in whole:
            same[0, order[start]] = True
        elif head in seen:
            same[1, order[start]] = True
        seen.add(head)
        whole.add(every)
    yield from facts.in_requests(
        "duplicate-session", same[0], "the lengths of all turns are those of an earlier session"
    )
    yield from facts.in_requests(
        "near-duplicate-session",
        same[1],
        f"the lengths of the first {COMPARED_TURNS} turns are those of an earlier session",
    )
