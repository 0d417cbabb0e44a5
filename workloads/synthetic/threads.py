"""Threads: prompts each of which contains the one before and its answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.synthetic.draws import Int64, sum_before


@dataclass(frozen=True, slots=True, eq=False)
class Threads:
    """Turns of threads, one thread behind the other.

    Parameters
    ----------
    begin
        Shape (threads,): where the turns of each begin.
    thread, turn
        Shape (turns,): the number of the thread, and of the turn within it.
    """

    begin: Int64
    thread: Int64
    turn: Int64

    @classmethod
    def of(cls, turns: Int64) -> Threads:
        """Return threads of so many turns each."""
        begin = np.cumsum(turns) - turns
        thread = np.repeat(np.arange(len(turns)), turns)
        return cls(begin, thread, np.arange(len(thread)) - begin[thread])

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def last(self) -> Int64:
        """Where the last turn of each thread is."""
        return np.append(self.begin, len(self))[1:] - 1

    def rows(
        self, paths: tuple[Int64, Int64], added: Int64, answers: Int64, first_key: int
    ) -> tuple[Int64, Int64, Int64]:
        """Return keys and stops of all prompts, shape (turns, parts), and the key of each answer.

        Parameters
        ----------
        paths
            Keys and stops of what each thread begins with, shape (threads, levels); a stop of 0
            is no part.
        added
            Tokens that each turn adds to the prompt before and its answer, at least 1.
        answers
            Tokens of each answer, at least 1.
        first_key
            Keys from here on are free; two a turn are used.
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
