"""Threads: sequences of prompts, each containing the previous one and its answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.synthetic.draws import Int64, sum_before


@dataclass(frozen=True, slots=True, eq=False)
class Threads:
    """Turns of threads, concatenated thread by thread.

    Parameters
    ----------
    begin
        Shape (threads,): index of each thread's first turn.
    thread, turn
        Shape (turns,): number of the thread, and of the turn within it.
    """

    begin: Int64
    thread: Int64
    turn: Int64

    @classmethod
    def of(cls, turns: Int64) -> Threads:
        """Return threads with the given numbers of turns."""
        begin = np.cumsum(turns) - turns
        thread = np.repeat(np.arange(len(turns)), turns)
        return cls(begin, thread, np.arange(len(thread)) - begin[thread])

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def last(self) -> Int64:
        """Index of each thread's last turn."""
        return np.append(self.begin, len(self))[1:] - 1

    def rows(
        self, paths: tuple[Int64, Int64], added: Int64, answers: Int64, first_key: int
    ) -> tuple[Int64, Int64, Int64]:
        """Return keys and ends of all prompts' parts, shape (turns, parts), and answers' keys.

        Parameters
        ----------
        paths
            Keys and stops of each thread's first parts, shape (threads, levels); a stop of 0
            means no part.
        added
            Tokens that each turn appends to the previous prompt and its answer, at least 1.
        answers
            Tokens of each answer, at least 1.
        first_key
            First unused key; two keys are used for each turn.
        """
        heads, head_stops = paths
        levels = heads.shape[1]
        stop = head_stops.max(axis=1, initial=0)[self.thread] + added
        stop += sum_before(added + answers, self.begin, self.thread)
        prompt_key = first_key + 2 * np.arange(len(self))
        width = max(levels, 2) + 1
        keys = np.zeros((len(self), width), dtype=np.int64)
        stops = np.zeros_like(keys)
        keys[self.begin, width - 1 - levels : width - 1] = heads
        stops[self.begin, width - 1 - levels : width - 1] = head_stops
        later = np.flatnonzero(self.turn > 0)
        keys[later, -3], stops[later, -3] = prompt_key[later - 1], stop[later - 1]
        keys[later, -2], stops[later, -2] = prompt_key[later - 1] + 1, stop[later] - added[later]
        keys[:, -1], stops[:, -1] = prompt_key, stop
        return keys, stops, prompt_key + 1
