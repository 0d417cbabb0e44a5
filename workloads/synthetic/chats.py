"""Generator of chats with several turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workloads.drift import Drift
from workloads.randomness import stream
from workloads.spec import knob
from workloads.synthetic.catalogue import PrefixLaw
from workloads.synthetic.draws import (
    ANSWER_SECONDS_PER_TOKEN,
    Float64,
    geometric,
    geometric_mean,
    lognormal_tokens,
    sum_before,
)
from workloads.synthetic.generator import PrefixGenerator
from workloads.synthetic.threads import Threads
from workloads.synthetic.traffic import Traffic

MOST_TURNS = 256


@dataclass(frozen=True, slots=True)
class Chats(PrefixGenerator):
    """Chats: `system prompt | user | answer | user | ...`, each prompt containing all before it.

    The next turn arrives when the answer has been written, at 20 ms a token, and the user's think
    time has passed. The trace contains the end of each answer.

    Parameters
    ----------
    count
        Number of system prompts in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent; 0 is uniform.
    system_tokens_median, system_tokens_sigma
        Lengths of system prompts: lognormal, clipped to an eighth and eight times the median.
    turns_mean
        Turns of a chat: geometric, at most 256.
    user_tokens_median
        Lengths of users' messages: lognormal (sigma 0.6).
    answer_tokens_median
        Lengths of answers: lognormal (sigma 0.6).
    think_seconds_median
        Time from the end of an answer to the next turn: lognormal (sigma 0.8).
    """

    name: ClassVar[str] = "chats"
    labels: ClassVar[tuple[str, ...]] = ("chat",)

    count: int = knob(24, 1, 10**6)
    zipf_exponent: float = knob(0.9, 0.0, 4.0)
    system_tokens_median: int = knob(2000, 8, 10**6)
    system_tokens_sigma: float = knob(0.5, 0.0, 3.0)
    turns_mean: float = knob(6.0, 1.0, 100.0)
    user_tokens_median: int = knob(120, 1, 10**5)
    answer_tokens_median: int = knob(300, 1, 10**5)
    think_seconds_median: float = knob(20.0, 1e-3, 1e6)

    @property
    def requests_per_session(self) -> float:
        """Mean number of turns of a chat."""
        return geometric_mean(self.turns_mean, MOST_TURNS)

    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of system prompts."""
        return PrefixLaw(
            items=self.count,
            zipf_exponent=self.zipf_exponent,
            tokens_median=self.system_tokens_median,
            tokens_sigma=self.system_tokens_sigma,
        )

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw chats that start at positions x of the trace (0 to 1)."""
        catalogue = self.catalogue(seed, drift)
        turns = Threads.of(geometric(stream(seed, "turns"), self.turns_mean, MOST_TURNS, len(x)))
        total = len(turns)
        user = lognormal_tokens(
            stream(seed, "users"), self.user_tokens_median, 0.6, 1, 10**6, total
        )
        user = np.rint(user * drift.scale(drift.step(x))[turns.thread]).astype(np.int64)
        answer = lognormal_tokens(
            stream(seed, "answers"), self.answer_tokens_median, 0.6, 1, 10**6, total
        )
        think = np.exp(0.8 * stream(seed, "think times").standard_normal(total))
        pause = answer * ANSWER_SECONDS_PER_TOKEN + self.think_seconds_median * think
        rank, opening = catalogue.draw(stream(seed, "contents"), x)
        heads = catalogue.paths(rank, opening, x)
        keys, stops, answer_key = turns.rows(heads, user, answer, catalogue.keys)
        return Traffic(
            session=turns.thread,
            delay_seconds=sum_before(pause, turns.begin, turns.thread),
            keys=keys,
            stops=stops,
            answer_key=answer_key,
            output_tokens=answer,
            label=np.zeros(total, dtype=np.int64),
            conversation=np.ones(total, dtype=np.bool_),
            distinct=catalogue.keys + 2 * total,
        )
