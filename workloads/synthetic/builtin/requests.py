"""Requests of the built-in workload in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.trace.trace import NO_SESSION
from workloads.randomness import stream
from workloads.synthetic.builtin.chats import ChatTurns
from workloads.synthetic.builtin.contents import CHAT
from workloads.synthetic.draws import Float64, Int64, lognormal_tokens


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """Single requests and first turns of chats in the order of time, as columns."""

    seconds: Float64
    kind: Int64
    rank: Int64
    generation: Int64
    rewrite: Int64  # version of the instruction


@dataclass(frozen=True, slots=True, eq=False)
class TraceRequests:
    """The requests of the trace in the order of time, as columns."""

    start: Int64
    chat: Int64  # -1 for none
    turn: Int64
    seconds: Float64
    output_tokens: Int64


def in_order(count: int, seed: int, starts: Starts, chats: ChatTurns) -> TraceRequests:
    """Merge single requests and turns by time, and keep the first `count`."""
    single = np.flatnonzero(starts.kind != CHAT)
    start = np.concatenate([single, np.flatnonzero(starts.kind == CHAT)[chats.chat]])
    seconds = starts.seconds[start]
    seconds[len(single) :] += chats.seconds
    answers = lognormal_tokens(stream(seed, "answers"), 150, 0.8, 5, 2000, len(single))
    order = np.argsort(seconds, kind="stable")[:count]
    alone = np.full_like(single, NO_SESSION)
    return TraceRequests(
        start=start[order],
        chat=np.concatenate([alone, chats.chat])[order],
        turn=np.concatenate([np.zeros_like(single), chats.turn])[order],
        seconds=seconds[order] - seconds[order[0]],
        output_tokens=np.concatenate([answers, chats.answer_tokens])[order],
    )
