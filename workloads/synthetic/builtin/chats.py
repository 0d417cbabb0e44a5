"""Chats of the built-in workload: turns, lengths and think times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.randomness import stream
from workloads.synthetic.builtin.contents import key
from workloads.synthetic.draws import (
    ANSWER_SECONDS_PER_TOKEN,
    Float64,
    Int64,
    lognormal_tokens,
    sum_before,
)

MAX_PROMPT_TOKENS = 8192
MAX_TURNS = 64

_TURN = 32  # above every other kind of key


@dataclass(frozen=True, slots=True, eq=False)
class ChatTurns:
    """All turns of all chats, concatenated chat by chat.

    Parameters
    ----------
    chat, turn
        int64, shape (turns,): number of the chat, and of the turn within it.
    begin
        int64, shape (chats,): index of each chat's first turn.
    seconds
        float64, shape (turns,): seconds from the start of the chat to the turn.
    stop
        int64, shape (turns,): prompt tokens of each turn.
    answer_tokens
        int64, shape (turns,): tokens of each answer.
    """

    chat: Int64
    turn: Int64
    begin: Int64
    seconds: Float64
    stop: Int64
    answer_tokens: Int64

    def parts(self, chat: Int64, turn: Int64) -> tuple[Int64, Int64, Int64]:
        """Return keys and ends (in tokens) of all turns of the given prompts, concatenated.

        Each prompt is that of turn `turn` of chat `chat`. The third array is the index of each
        prompt's first entry.
        """
        counts = turn + 1
        ends = np.cumsum(counts)
        at = np.arange(int(counts.sum())) - np.repeat(ends - counts - self.begin[chat], counts)
        return key(_TURN, at), self.stop[at], ends - counts


def draw_chats(
    seed: int, system_tokens: Int64, turns_mean: float, think_median: float
) -> ChatTurns:
    """Draw chats, each after a system prompt of `system_tokens` (shape (chats,)).

    A chat ends before the turn whose prompt would exceed 8,192 tokens. The next turn arrives when
    the answer has been generated, at 20 ms a token, and the user's think time has passed.
    """
    count = len(system_tokens)
    turns = np.minimum(stream(seed, "turns").geometric(1 / turns_mean, size=count), MAX_TURNS)
    chat = np.repeat(np.arange(count), turns)
    begin = np.cumsum(turns) - turns
    turn = np.arange(len(chat)) - begin[chat]
    total = len(chat)
    user = lognormal_tokens(stream(seed, "chat users"), 120, 0.6, 50, 500, total)
    answer = lognormal_tokens(stream(seed, "chat answers"), 300, 0.6, 20, 1500, total)
    think = think_median * np.exp(0.8 * stream(seed, "think times").standard_normal(total))
    stop = system_tokens[chat] + user + sum_before(user + answer, begin, chat)
    seconds = sum_before(answer * ANSWER_SECONDS_PER_TOKEN + think, begin, chat)
    kept = (stop <= MAX_PROMPT_TOKENS) | (turn == 0)
    return ChatTurns(
        chat=chat[kept],
        turn=turn[kept],
        begin=np.flatnonzero(turn[kept] == 0),
        seconds=seconds[kept],
        stop=stop[kept],
        answer_tokens=answer[kept],
    )
