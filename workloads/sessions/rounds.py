"""Rounds of sessions that say how much of the context they keep and how much they add."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec

from simulator.base.errors import DataError
from simulator.trace.prefix_tree import ROOT
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.prefixes.prompt_tree import PromptTree
from workloads.reading.fields import Problem, output_problem, prompt_problem
from workloads.rows import Rows
from workloads.sessions.length_rows import length_problem, note_empty_prompt


class Round(msgspec.Struct, frozen=True, gc=False):
    """One prompt of a session and its answer.

    Parameters
    ----------
    line
        Of the file.
    index
        The place among the session's rounds; equal ones keep the order of the file.
    prefix_tokens
        How many tokens of the session's context the prompt keeps, from its start.
    new_tokens, output_tokens
        What the prompt adds behind them, and the answer.
    ticks
        Its time, or that at which its session begins: the format knows which.
    wait_ticks
        Between the answer and the next round.
    label
        None where there is none.
    """

    line: int
    index: int
    prefix_tokens: int
    new_tokens: int
    output_tokens: int
    ticks: Ticks
    wait_ticks: Ticks = 0
    label: str | None = None

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the whole prompt."""
        return self.prefix_tokens + self.new_tokens

    def problem(self, prefix: str, new: str, output: str) -> Problem | None:
        """Say what is wrong with the lengths, whose fields are so named in the file."""
        return (
            length_problem(prefix, self.prefix_tokens)
            or length_problem(new, self.new_tokens)
            or output_problem(output, self.output_tokens)
            or (prompt_problem(prefix, self.prompt_tokens) if self.prompt_tokens else None)
        )


@dataclass(slots=True)
class Rounds:
    """The rounds of a file by session; rows are made of them once all are known.

    A prompt is the first `prefix_tokens` of its session's context, which is the prompt and the
    answer of the round before, and new tokens. Where it keeps less than the whole context, what
    it adds diverges there: a rewind. Where it keeps more, the rest is unknown and taken to be
    new. No session shares anything with another.
    """

    rows: Rows
    tree: PromptTree
    sessions: dict[str, list[Round]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, options: ReadOptions, ticks_per_second: float) -> Rounds:
        """Start without rounds."""
        tree = PromptTree()
        return cls(Rows(tree, options.on_bad_line, ticks_per_second), tree)

    def finish(self, path: str, times: Callable[[list[Round]], Sequence[Ticks]]) -> Rows:
        """Make rows in the order of time; `times` tells those of a session's ordered rounds.

        Raises
        ------
        DataError
            Where there is no round with a prompt, and no bad line that could be the reason.
        """
        placed = []
        for session, rounds in self.sessions.items():
            ordered = self._in_order(rounds)
            context = ROOT
            for ticks, now in zip(times(ordered), ordered, strict=True):
                if now.prompt_tokens:
                    leaf, context = self._place(now, context)
                    placed.append((ticks, now.line, now, session, leaf, context))
                else:
                    note_empty_prompt(self.rows, now.line)
        for ticks, line, now, session, leaf, after in sorted(placed, key=lambda row: row[:2]):
            self.tree.add(leaf, after)
            self.rows.add(line, now.prompt_tokens, now.output_tokens, ticks, session, now.label)
        if not placed and self.rows.first_bad is None:
            raise DataError(path, "expected rounds with prompts, found none")
        return self.rows

    def _in_order(self, rounds: list[Round]) -> list[Round]:
        """Return a session's rounds by their index, and note those that stood elsewhere."""
        ordered = sorted(rounds, key=lambda now: now.index)
        for before, now in pairwise(ordered):
            if now.index == before.index:
                detail = "an index that the session has already: the file's order decides"
                self.rows.note("duplicate-round", now.line, detail)
            elif now.line < before.line:
                detail = "a round below one of a later index: the index decides"
                self.rows.note("unsorted-rounds", now.line, detail)
        return ordered

    def _place(self, now: Round, context: int) -> tuple[int, int]:
        """Return the nodes at which a prompt and its answer end."""
        known = self.tree.stop[context]
        if now.prefix_tokens > known:
            detail = "the prefix is longer than its session's context: the rest is taken to be new"
            self.rows.note("unknown-prefix", now.line, detail)
        elif now.prefix_tokens < known:
            detail = "the prefix is shorter than its session's context, which is cut there"
            self.rows.note("rewind", now.line, detail)
        kept = self.tree.cut(context, min(now.prefix_tokens, known))
        leaf = self.tree.extend(kept, now.prompt_tokens - self.tree.stop[kept])
        return leaf, self.tree.extend(leaf, now.output_tokens)
