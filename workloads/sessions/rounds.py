"""Rounds of sessions (model calls) with how much of the context each keeps and adds."""

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
        Its line in the file.
    index
        Position among the session's rounds; ties keep the order of the file.
    prefix_tokens
        Tokens of the session's context that the prompt begins with.
    new_tokens, output_tokens
        Tokens that the prompt appends, and tokens of the answer.
    ticks
        Its time or, in some formats, the start of its session.
    wait_ticks
        Ticks between the answer and the next round.
    label
        Its label, None if it has none.
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
        """Return what is wrong with the lengths; the arguments are their field names."""
        return (
            length_problem(prefix, self.prefix_tokens)
            or length_problem(new, self.new_tokens)
            or output_problem(output, self.output_tokens)
            or (prompt_problem(prefix, self.prompt_tokens) if self.prompt_tokens else None)
        )


@dataclass(slots=True)
class Rounds:
    """The rounds of a file by session, turned into rows once all are known.

    A prompt consists of the first `prefix_tokens` of its session's context (prompt and answer of
    the previous round) and new tokens. If it keeps less than the whole context, it diverges there
    (a rewind). If it keeps more, the rest is unknown and matches nothing. Sessions share nothing
    with each other.
    """

    rows: Rows
    tree: PromptTree
    sessions: dict[str, list[Round]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, options: ReadOptions, ticks_per_second: float) -> Rounds:
        """Return an empty collection of rounds."""
        tree = PromptTree()
        return cls(Rows(tree, options.on_bad_line, ticks_per_second), tree)

    def finish(self, path: str, times: Callable[[list[Round]], Sequence[Ticks]]) -> Rows:
        """Return the rows in the order of time; `times` maps a session's rounds to their times.

        Raises
        ------
        DataError
            For a file without a round that has a prompt, unless bad lines explain it.
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
        """Return a session's rounds ordered by index, and note those out of order in the file."""
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
