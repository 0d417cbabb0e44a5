"""Rows of files that contain lengths only: of whole prompts, or of what each turn adds."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from simulator.trace.prefix_tree import ROOT
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.prefixes.prompt_tree import PromptTree
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import (
    Problem,
    output_problem,
    presence_problem,
    prompt_problem,
    time_problem,
)
from workloads.rows import Rows

Name = str | int | None


@dataclass(frozen=True, slots=True)
class Fields:
    """A format's field names, for messages; `session` is None if it has none."""

    prompt: str
    output: str
    time: str
    session: str | None = None


class SizedRequest(msgspec.Struct, frozen=True, gc=False):
    """A row of which only lengths are known.

    Parameters
    ----------
    prompt_tokens
        Tokens of the whole prompt, or only those that follow the session's context.
    output_tokens
        Tokens of the answer, 0 if unknown.
    ticks
        The time in the file's unit, None if there is none.
    session, label
        Names, None if there are none.
    """

    prompt_tokens: int
    output_tokens: int
    ticks: Ticks | None
    session: Name = None
    label: Name = None


@dataclass(slots=True)
class LengthRows:
    """Builder of rows from lengths.

    Cumulative rows, the default, share nothing with each other, since only their lengths are known.
    The prompt of an incremental row is its session's context, answers included, followed by new
    tokens. A turn that adds at least as much as the previous turn and its answer is noted, since
    its rows may be cumulative. A prompt of no token is left out and noted.
    """

    rows: Rows
    fields: Fields
    blocks: BlockKeys
    tree: PromptTree | None
    context: dict[str | int, int] = field(default_factory=dict)
    last: dict[str | int, int] = field(default_factory=dict)
    timed: bool | None = None

    @classmethod
    def of(cls, options: ReadOptions, fields: Fields, ticks_per_second: float) -> LengthRows:
        """Return a builder with new rows."""
        rows = Rows(BlockKeys(1), options.on_bad_line, ticks_per_second)
        return cls.into(rows, fields, incremental=options.rows == "incremental")

    @classmethod
    def into(cls, rows: Rows, fields: Fields, *, incremental: bool) -> LengthRows:
        """Return a builder that fills empty rows and sets their prompts."""
        blocks = BlockKeys(1)
        tree = PromptTree() if incremental else None
        rows.prompts = blocks if tree is None else tree
        return cls(rows, fields, blocks, tree)

    def take(self, request: SizedRequest, line: int) -> Problem | None:
        """Add a request, or return what is wrong with it and add nothing."""
        names, ticks, timed = self.fields, request.ticks, self.timed
        problem = (
            length_problem(names.prompt, request.prompt_tokens)
            or output_problem(names.output, request.output_tokens)
            or presence_problem(names.time, ticks, first=timed is None, timed=bool(timed))
            or time_problem(names.time, ticks, self.rows.ticks_per_second)
        )
        if problem is not None:
            return problem
        self.timed = ticks is not None
        if self.tree is not None:
            return self._grow(self.tree, request, line)
        if request.prompt_tokens:
            self.blocks.add(())
        self._add(request, line, request.prompt_tokens)
        return None

    def _grow(self, tree: PromptTree, request: SizedRequest, line: int) -> Problem | None:
        if self.fields.session is None:
            return None, "expected sessions for incremental rows: the format has none"
        if request.session is None:
            self.rows.note("no-session", line, "an incremental row without a session: read alone")
        context = ROOT if request.session is None else self.context.get(request.session, ROOT)
        whole = tree.stop[context] + request.prompt_tokens
        problem = length_problem(self.fields.prompt, whole)
        if problem is not None:
            return problem
        if whole:
            leaf = tree.extend(context, request.prompt_tokens)
            after = tree.extend(leaf, request.output_tokens)
            tree.add(leaf, after)
            self._remember(request, after, line)
        self._add(request, line, whole)
        return None

    def _remember(self, request: SizedRequest, after: int, line: int) -> None:
        """Keep the context of a session, and note a turn that looks like a whole context."""
        if request.session is None:
            return
        before = self.last.get(request.session)
        if before and request.prompt_tokens >= before:
            detail = "adds the turn before and its answer, or more: are rows cumulative (--rows)?"
            self.rows.note("growing-turn", line, detail)
        self.context[request.session] = after
        self.last[request.session] = request.prompt_tokens + request.output_tokens

    def _add(self, request: SizedRequest, line: int, prompt_tokens: int) -> None:
        """Add the columns of a request; its prompt must have been added unless it is empty."""
        if not prompt_tokens:
            note_empty_prompt(self.rows, line)
            return
        output, ticks = request.output_tokens, request.ticks
        self.rows.add(line, prompt_tokens, output, ticks, request.session, request.label)


def length_problem(field: str, tokens: int) -> Problem | None:
    """Return a problem if a prompt's length is invalid, else None; 0 is allowed."""
    return prompt_problem(field, tokens) if tokens else None


def note_empty_prompt(rows: Rows, line: int) -> None:
    """Note a prompt of no token, which is left out."""
    rows.note("empty-prompt", line, "a prompt of no token: left out")
