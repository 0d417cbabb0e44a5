"""Who comes when, and asks about what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.trace.trace import NO_SESSION
from workloads.arrivals import ArrivalProcess
from workloads.randomness import stream
from workloads.synthetic.builtin.chats import Chats
from workloads.synthetic.builtin.contents import (
    CHAT,
    QUESTION,
    REWRITES,
    Contents,
)
from workloads.synthetic.builtin.spec import BuiltIn
from workloads.synthetic.draws import Float64, Int64, lognormal_tokens, pick


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """Single requests and first turns, in order of time; columns of one length."""

    seconds: Float64
    kind: Int64
    rank: Int64
    generation: Int64
    rewrite: Int64  # of the instruction


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """What the trace holds, in order of time; columns of one length."""

    start: Int64
    chat: Int64  # -1 for none
    turn: Int64
    seconds: Float64
    output_tokens: Int64


def draw_starts(
    spec: BuiltIn, count: int, seed: int, arrivals: ArrivalProcess, contents: Contents
) -> Starts:
    """Draw when single requests and chats begin, and what they are about.

    There are `count`, as many as requests: each brings at least one.
    """
    weights = np.array([spec.question_weight, spec.system_weight, spec.chat_weight])
    starting = weights / [1.0, 1.0, spec.turns_mean]
    rate = arrivals.rate_per_second
    seconds = arrivals.at_rate(rate * float(starting.sum() / weights.sum())).times(count, seed)
    kind = pick(stream(seed, "kinds").random(count), starting)
    question = kind == QUESTION
    uniform = stream(seed, "popularity").random(count)
    rank = np.empty(count, dtype=np.int64)
    for those, ranks in ((question, spec.documents), (~question, spec.system_prompts)):
        rank[those] = pick(uniform[those], np.arange(1.0, ranks + 1) ** -spec.zipf_exponent)
    progress = np.minimum(seconds * rate / count, 1.0)
    age = REWRITES * spec.drift * progress
    generation = contents.generation(question, rank, age)
    return Starts(seconds, kind, rank, generation, np.floor(age).astype(np.int64))


def in_order(count: int, seed: int, starts: Starts, chats: Chats) -> Requests:
    """Merge single requests and turns by time, and keep the first `count`."""
    single = np.flatnonzero(starts.kind != CHAT)
    start = np.concatenate([single, np.flatnonzero(starts.kind == CHAT)[chats.chat]])
    seconds = starts.seconds[start]
    seconds[len(single) :] += chats.seconds
    answers = lognormal_tokens(stream(seed, "answers"), 150, 0.8, 5, 2000, len(single))
    order = np.argsort(seconds, kind="stable")[:count]
    alone = np.full_like(single, NO_SESSION)
    return Requests(
        start=start[order],
        chat=np.concatenate([alone, chats.chat])[order],
        turn=np.concatenate([np.zeros_like(single), chats.turn])[order],
        seconds=seconds[order] - seconds[order[0]],
        output_tokens=np.concatenate([answers, chats.answer_tokens])[order],
    )
