"""Steps of agents and sub-agents: tokens and arrival times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.synthetic.draws import ANSWER_SECONDS_PER_TOKEN, Float64, Int64, sum_before
from workloads.synthetic.threads import Threads


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of agents as columns of one length.

    Parameters
    ----------
    turns
        The agent and the step number of each.
    added
        Tokens that each step appends to the context.
    answer
        Tokens that the model writes.
    tool_seconds
        Duration of the tool call.
    """

    turns: Threads
    added: Int64
    answer: Int64
    tool_seconds: Float64

    def pause(self) -> Float64:
        """Return the seconds from each request to the next."""
        return self.answer * ANSWER_SECONDS_PER_TOKEN + self.tool_seconds

    def duration(self) -> Float64:
        """Return the seconds from each agent's first request to the end of its last answer."""
        pause = self.pause()
        if not len(pause):
            return pause
        ended = np.add.reduceat(pause, self.turns.begin)
        return ended - self.tool_seconds[self.turns.last]

    def rows(self, paths: tuple[Int64, Int64], first_key: int) -> tuple[Int64, Int64, Int64]:
        """Return keys and ends of the parts of all prompts, and keys of the answers."""
        return self.turns.rows(paths, self.added, self.answer, first_key)


def delays(main: Steps, sub: Steps, caller: Int64) -> Float64:
    """Return the seconds from the start of the session to each step, agents' first.

    Sub-agent i starts when the call of step `caller[i]` has been written; its agent's next step
    arrives when the sub-agent's last answer has been written.
    """
    written = main.answer * ANSWER_SECONDS_PER_TOKEN
    pause = main.pause()
    pause[caller] = written[caller] + sub.duration()
    delay = sum_before(pause, main.turns.begin, main.turns.thread)
    called = (delay + written)[caller]
    inner = sum_before(sub.pause(), sub.turns.begin, sub.turns.thread)
    return np.concatenate([delay, called[sub.turns.thread] + inner])
