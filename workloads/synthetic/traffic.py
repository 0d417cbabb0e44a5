"""Requests of sessions as drawn by generators, and their conversion to a trace.

A row describes a prompt by the keys of its parts. Listing all parts would make the rows of a
session ever longer. But a key identifies its whole prefix, so the row of a later turn only holds
the previous prompt, its answer, and what was added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import NO_SESSION, Trace
from workloads.prefixes.interning import intern_runs
from workloads.synthetic.catalogue import Catalogue
from workloads.synthetic.draws import Float64, Int64, by_first_sight

NO_KEY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Requests as columns of one length, in any order in which a prompt precedes its successors.

    Parameters
    ----------
    session
        Number of the session that each request belongs to.
    delay_seconds
        Seconds from the session's start to the request.
    keys, stops
        Shape (requests, parts): keys of prefixes, and their ends in tokens from the start of the
        prompt; a stop of 0 means no part. The last part ends the prompt.
    answer_key
        Key of prompt and answer together; NO_KEY where nothing can follow the answer.
    output_tokens, label
        Output tokens and label, as in a trace.
    conversation
        Whether the trace should contain the session.
    distinct
        An upper bound of all keys (exclusive).
    """

    session: Int64
    delay_seconds: Float64
    keys: Int64
    stops: Int64
    answer_key: Int64
    output_tokens: Int64
    label: Int64
    conversation: NDArray[np.bool_]
    distinct: int

    def embedded(self, starts: Int64, used: int, labels: Int64) -> Traffic:
        """Return this traffic as part of a larger whole whose keys below `used` are taken.

        `starts` and `labels` map this traffic's sessions and labels to those of the whole.
        """
        known = self.answer_key != NO_KEY
        return replace(
            self,
            session=starts[self.session],
            keys=self.keys + used,
            answer_key=np.where(known, self.answer_key + used, NO_KEY),
            label=labels[self.label],
            distinct=self.distinct + used,
        )


def joined(parts: Sequence[Traffic]) -> Traffic:
    """Join several kinds of traffic with distinct keys; rows with fewer parts are padded."""
    width = max(part.keys.shape[1] for part in parts)
    empty = [((0, 0), (width - part.keys.shape[1], 0)) for part in parts]
    wide = [
        replace(part, keys=np.pad(part.keys, pad), stops=np.pad(part.stops, pad))
        for part, pad in zip(parts, empty, strict=True)
    ]
    columns = [field.name for field in fields(Traffic) if field.name != "distinct"]
    whole = {name: np.concatenate([getattr(part, name) for part in wide]) for name in columns}
    return Traffic(**whole, distinct=parts[-1].distinct)


def single_requests(
    catalogue: Catalogue, paths: tuple[Int64, Int64], tail_tokens: Int64, output_tokens: Int64
) -> Traffic:
    """Return traffic of one request per session: a shared path and a tail of its own."""
    count = len(tail_tokens)
    own = catalogue.keys + np.arange(count)
    keys, stops = paths
    ends = stops.max(axis=1, initial=0) + tail_tokens
    return Traffic(
        session=np.arange(count),
        delay_seconds=np.zeros(count),
        keys=np.hstack([keys, own[:, None]]),
        stops=np.hstack([stops, ends[:, None]]),
        answer_key=np.full(count, NO_KEY),
        output_tokens=output_tokens,
        label=np.zeros(count, dtype=np.int64),
        conversation=np.zeros(count, dtype=np.bool_),
        distinct=catalogue.keys + count,
    )


def in_time(traffic: Traffic, starts: Float64, requests: int) -> tuple[Int64, Float64]:
    """Return the first `requests` of the traffic in order of time, and their times."""
    seconds = starts[traffic.session] + traffic.delay_seconds
    order = np.argsort(seconds, kind="stable")[:requests]
    return order, seconds[order]


def assemble(
    traffic: Traffic, order: Int64, seconds: Float64, name: str, labels: tuple[str, ...]
) -> Trace:
    """Return a trace of the requests in the order given, exact to the token."""
    keys, stops = traffic.keys[order], traffic.stops[order]
    outputs, answer_key = traffic.output_tokens[order], traffic.answer_key[order]
    known = np.flatnonzero(answer_key != NO_KEY)
    ends = stops[known, -1]
    rows, counts = _ragged(keys, stops)
    answers = np.stack([keys[known, -1], answer_key[known]], axis=1).ravel()
    answer_stops = np.stack([ends, ends + outputs[known]], axis=1).ravel()
    interned = intern_runs(
        np.concatenate([rows[0], answers]).view(np.uint64),
        np.concatenate([rows[1], answer_stops]),
        np.concatenate([[0], np.cumsum(np.concatenate([counts, np.full(len(known), 2)]))]),
    )
    after = np.full(len(order), -1, dtype=np.int32)
    after[known] = interned.leaf[len(order) :]
    session = np.where(traffic.conversation[order], traffic.session[order], NO_SESSION)
    return Trace(
        name=name,
        tree=interned.tree,
        leaf=interned.leaf[: len(order)],
        arrival_seconds=seconds - seconds[0],
        output_tokens=outputs,
        session=by_first_sight(session),
        label=traffic.label[order].astype(np.int32),
        labels=labels,
        after=after if len(known) else None,
    )


def _ragged(keys: Int64, stops: Int64) -> tuple[tuple[Int64, Int64], Int64]:
    """Return keys and ends of all rows' parts, concatenated, and the number of parts of each."""
    here = stops > 0
    return (keys[here], stops[here]), here.sum(axis=1)
