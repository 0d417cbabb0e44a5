"""Anomalies of single requests: lengths, copies, labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simulator.trace.trace import NO_LABEL
from workloads.anomaly import Anomaly
from workloads.validation.facts import Facts

SHORT_PROMPT_TOKENS = 16  # no built-in setting has smaller blocks
LONG_PROMPT_TOKENS = 1 << 20
MOST_NAMED = 5


def request_anomalies(facts: Facts) -> Iterator[Anomaly]:
    """Yield the anomalies of lengths, copies and labels."""
    trace = facts.trace
    lengths, outputs = trace.prompt_tokens, trace.output_tokens
    detail = "the output has no token, or is unknown"
    yield from facts.in_requests("zero-output", outputs == 0, detail)
    detail = f"fewer than {SHORT_PROMPT_TOKENS} tokens: shorter than a block of any cache"
    yield from facts.in_requests("short-prompt", lengths < SHORT_PROMPT_TOKENS, detail)
    detail = f"more than {LONG_PROMPT_TOKENS:,} tokens: does the file count tokens?"
    yield from facts.in_requests("long-prompt", lengths > LONG_PROMPT_TOKENS, detail)
    yield from _duplicates(facts)
    yield from _labels(facts)


def _duplicates(facts: Facts) -> Iterator[Anomaly]:
    """Yield a warning for requests with the time, lengths and prefix of an earlier one."""
    trace = facts.trace
    columns = [facts.prefix, trace.prompt_tokens, trace.output_tokens]
    if trace.arrival_seconds is not None:
        columns.append(trace.arrival_seconds.view(np.int64))  # compared bit by bit
    rows = np.stack(columns, axis=1)[facts.order]
    _, first = np.unique(rows, axis=0, return_index=True)
    repeated = facts.prefix[facts.order] >= 0
    repeated[first] = False
    detail = "time, lengths and ids are those of an earlier line"
    yield from facts.in_rows("duplicate", repeated, detail)


def _labels(facts: Facts) -> Iterator[Anomaly]:
    label, names = facts.trace.label, facts.trace.labels
    missing = label == NO_LABEL
    if missing.all():
        return
    yield from facts.in_requests("no-label", missing, "other requests have a label")
    if len(names) > 1:
        shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        other = (label != label[facts.order[0]]) & ~missing
        detail = f"{len(names):,} labels are mixed ({shown}): another than the first line's"
        yield from facts.in_requests("several-labels", other, detail)
