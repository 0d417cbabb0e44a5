"""The built-in workload: its parameters, and its traces."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from workloads.arrivals import ArrivalProcess
from workloads.drift import Drift
from workloads.gaps import check_rate
from workloads.prefixes.interning import intern_runs
from workloads.randomness import stream
from workloads.synthetic.builtin.chats import draw_chats
from workloads.synthetic.builtin.contents import (
    CHAT,
    KINDS,
    QUESTION,
    REWRITES,
    Contents,
    draw_contents,
)
from workloads.synthetic.builtin.limits import check_knob
from workloads.synthetic.builtin.prompts import prompt_keys
from workloads.synthetic.builtin.requests import Starts, in_order
from workloads.synthetic.draws import by_first_sight, pick
from workloads.synthetic.generator import check_requests


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The built-in workload: questions about shared documents, system prompts, and chats.

    Texts are replaced over time by a drift of its own; arrival times do not depend on it.

    Parameters
    ----------
    drift
        0 is stationary, 1 replaces each text four times over the trace; see
        `workloads.synthetic.builtin.contents`.
    question_weight, system_weight, chat_weight
        Shares of the requests, on any scale. The actual share of chats is lower (0.26 instead of
        0.3 by default): long chats are cut, and some continue after the end of the trace.
    documents, system_prompts
        Number of each in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent.
    document_tokens_median
        Lengths of documents: lognormal (sigma 0.4), clipped to half and double the median.
    turns_mean
        Turns of a chat: geometric, cut where the prompt would exceed 8,192 tokens.
    think_seconds_median
        Time between an answer and the next turn of a chat: lognormal (sigma 0.8).

    Raises
    ------
    UsageError
        For a field that is not finite or out of range.
    """

    drifts: ClassVar[tuple[str, ...]] = ()

    drift: float = 0.0
    question_weight: float = 0.4
    system_weight: float = 0.3
    chat_weight: float = 0.3
    documents: int = 150
    system_prompts: int = 24
    zipf_exponent: float = 0.9
    document_tokens_median: int = 8000
    turns_mean: float = 5.0
    think_seconds_median: float = 20.0

    def __post_init__(self) -> None:
        for field in fields(self):
            check_knob(field.name, getattr(self, field.name))
        if not self.question_weight + self.system_weight + self.chat_weight > 0:
            raise UsageError("synthetic: expected at least one weight above 0")

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return the workload as a trace, exact to the token; labels are the kinds of traffic.

        Raises
        ------
        UsageError
            For a drift other than its own, or a number, seed or rate out of range.
        """
        if drift != Drift():
            raise UsageError("the generator 'builtin' has a knob 'drift' and takes no other drift")
        check_requests(requests)
        return self.assembled(requests, seed, arrivals)

    def assembled(self, requests: int, seed: int, arrivals: ArrivalProcess) -> Trace:
        """Generate the trace for a seed and an arrival process with the rate of all requests."""
        contents = draw_contents(
            seed, self.documents, self.system_prompts, self.document_tokens_median
        )
        starts = self._starts(requests, seed, arrivals, contents)
        chatting = starts.kind == CHAT
        system_tokens = contents.section_stop[
            starts.rank[chatting], starts.generation[chatting], -1
        ]
        chats = draw_chats(seed, system_tokens, self.turns_mean, self.think_seconds_median)
        chosen = in_order(requests, seed, starts, chats)
        keys, stops, offsets = prompt_keys(seed, contents, starts, chats, chosen)
        interned = intern_runs(keys, stops, offsets)
        return Trace(
            name="synthetic",
            tree=interned.tree,
            leaf=interned.leaf,
            arrival_seconds=chosen.seconds,
            output_tokens=chosen.output_tokens,
            session=by_first_sight(chosen.chat),
            label=starts.kind[chosen.start].astype(np.int32),
            labels=KINDS,
        )

    def _starts(
        self, count: int, seed: int, arrivals: ArrivalProcess, contents: Contents
    ) -> Starts:
        """Draw the times, kinds and contents of single requests and first turns of chats.

        There are `count` of them, as many as requests, since each brings at least one.
        """
        weights = np.array([self.question_weight, self.system_weight, self.chat_weight])
        starting = weights / [1.0, 1.0, self.turns_mean]
        rate = arrivals.rate_per_second
        seconds = arrivals.at_rate(rate * float(starting.sum() / weights.sum())).times(count, seed)
        kind = pick(stream(seed, "kinds").random(count), starting)
        question = kind == QUESTION
        uniform = stream(seed, "popularity").random(count)
        rank = np.empty(count, dtype=np.int64)
        for those, ranks in ((question, self.documents), (~question, self.system_prompts)):
            rank[those] = pick(uniform[those], np.arange(1.0, ranks + 1) ** -self.zipf_exponent)
        progress = np.minimum(seconds * rate / count, 1.0)
        age = REWRITES * self.drift * progress
        generation = contents.generation(question, rank, age)
        return Starts(seconds, kind, rank, generation, np.floor(age).astype(np.int64))


@dataclass(frozen=True, slots=True)
class SyntheticSpec(BuiltIn):
    """Everything that determines one trace of the built-in workload.

    For one seed, `drift` changes which document or system prompt a request uses, but never its
    arrival time.

    Parameters
    ----------
    requests
        Number of requests.
    rate_per_second
        Rate of all requests. Single requests and first turns of chats are a Poisson process; later
        turns follow their chats, so that the first minutes have fewer requests.
    seed
        Seed of all random streams.
    """

    requests: int = 4000
    rate_per_second: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        BuiltIn.__post_init__(self)
        check_rate(self.rate_per_second)
        stream(self.seed, "arrivals")
