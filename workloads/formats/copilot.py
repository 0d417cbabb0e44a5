"""GitHub Copilot coding agent sessions: JSON lines, as one file or a folder of shards.

Source: Azure/AzurePublicDataset, GitHubCopilotCodingAgentDataset2026 and its `schema.json`. A line
is a session whose turns have `llm_calls`, each with token counts of its prompt, of the part of it
that the cache held (`cached`, included in `prompt`), and of its answer. A folder holds shards by
date.

- The cached part of a prompt is shared with its session, else with an earlier session of the same
  model, but only as far as both prompts begin with the same parts (`message_metadata`: type, role
  and tokens); see `workloads.sessions.cached_calls`.
- A call arrives at its `timestamp`; without one, or without a prompt length, it is left out and
  noted. Calls that did not succeed are kept and noted.
- Calls of a session with the same `message_id`, time, model and tokens are one call, and noted.
- A session is `session_id`; the label is the model. A session with a bad call is refused as a
  whole. A prompt of no token is left out and noted.
- Times come from clients' clocks: those over a day from the session's `date` are kept and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import Problem, output_problem
from workloads.reading.folders import files_in, first_head
from workloads.reading.json_lines import read_json_lines
from workloads.reading.nanoseconds import NANOSECONDS, NanosecondClock
from workloads.reading.times import parse_time
from workloads.rows import Rows
from workloads.sessions.cached_calls import CachedCall, CachedCalls, Part
from workloads.sessions.cached_tokens import CachedMeaning, CountedTokens, Usual
from workloads.sessions.length_rows import length_problem

SUFFIXES = (".jsonl", ".jsonl.gz")
LEVELS = 3  # of folders: the release, its dates, and one more
MOST_PARTS = 8  # at the start of a prompt; sessions share no more
USUAL = Usual("inside", "as the data set says")

_DAY = 86400 * NANOSECONDS

Name = Annotated[str, msgspec.Meta(max_length=200)]
Identity = tuple[str | int | None, ...]


class _Tokens(msgspec.Struct, gc=False):
    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


class _Segment(msgspec.Struct, gc=False):
    type: Name | None = None
    role: Name | None = None
    sequenceId: int | None = None  # noqa: N815  (as the data set has it)
    token_len: int | None = None


class _Call(msgspec.Struct, gc=False):
    timestamp: str | None = None
    model: Name | None = None
    result: Name | None = None
    message_id: str | int | None = None
    tokens: _Tokens | None = None
    message_metadata: list[_Segment] | None = None

    def identity(self) -> Identity | None:
        """Return a value that only copies of this call share, None if the call has no id."""
        if self.message_id is None:
            return None
        tokens = self.tokens or _Tokens()
        counts = tokens.prompt, tokens.completion, tokens.cached
        return self.message_id, self.timestamp, self.model, *counts

    def parts(self) -> tuple[Part, ...]:
        """Return kind and length of each part of the prompt, from its start."""
        segments = sorted(self.message_metadata or (), key=lambda part: part.sequenceId or 0)
        return tuple((f"{p.type} {p.role}", p.token_len or 0) for p in segments)


class _Turn(msgspec.Struct, gc=False):
    llm_calls: list[_Call] | None = None


class _Session(msgspec.Struct, gc=False):
    session_id: Name
    turns: list[_Turn]
    date: Name | None = None

    def calls(self) -> Iterator[tuple[str, _Call]]:
        """Yield each call with its path in the record, such as "turns[0].llm_calls[1]"."""
        for at, turn in enumerate(self.turns):
            for number, call in enumerate(turn.llm_calls or ()):
                yield f"turns[{at}].llm_calls[{number}]", call


class _Kept(NamedTuple):
    """A call that becomes a request; `nanoseconds` are since 1970."""

    line: int
    nanoseconds: int
    counted: CountedTokens
    output_tokens: int
    session: str
    model: str | None
    parts: tuple[Part, ...]


@dataclass(slots=True)
class _Reader:
    """Reader of a file or folder, which collects its calls."""

    rows: Rows
    cached: CachedMeaning
    clock: NanosecondClock = field(default_factory=NanosecondClock)
    kept: list[_Kept] = field(default_factory=list)

    def take(self, session: _Session, line: int) -> Problem | None:
        """Take a session, or return what is wrong with it."""
        kept = []
        for place, call in session.calls():
            problem = _problem(call)
            if problem is not None:
                return f"{place}.{problem[0]}", problem[1]
            try:
                now = None if call.timestamp is None else self.clock.see(call.timestamp)
            except ValueError as error:
                return f"{place}.timestamp", str(error)
            kept.append((call, now))
        day = _day(session.date)
        known: set[Identity] = set()
        for call, now in kept:
            identity = call.identity()
            if identity in known:
                detail = "a call that the session has already: left out"
                self.rows.note("repeated-call", line, detail)
                continue
            if identity is not None:
                known.add(identity)
            self._keep(session.session_id, line, call, now, day)
        return None

    def _keep(self, session: str, line: int, call: _Call, now: int | None, day: int | None) -> None:
        note, tokens = self.rows.note, call.tokens or _Tokens()
        if now is None or tokens.prompt is None:
            what = ("no-time", "date") if now is None else ("no-tokens", "tokens of its prompt")
            note(what[0], line, f"a call without {what[1]}: left out")
            return
        if call.result is not None and call.result.lower() not in {"success", "ok"}:
            note("failure", line, "a call that did not succeed: kept")
        if tokens.cached is None and tokens.prompt:
            note("no-cached", line, "what the cache held is not told: taken to be nothing")
        if day is not None and not -_DAY <= now - day <= 2 * _DAY:
            note("other-date", line, "over a day from the session's date: a wrong clock?")
        counted = CountedTokens(tokens.prompt, tokens.cached or 0)
        self.cached.see(call.model or "calls", counted, USUAL, line)
        parts = call.parts()[:MOST_PARTS]
        output = tokens.completion or 0
        self.kept.append(_Kept(line, now, counted, output, session, call.model, parts))

    def finish(self, path: Path) -> Rows:
        """Return the rows."""
        made = []
        for call in self.kept:
            prompt_tokens, held = self.cached.prompt(call.model or "calls", call.counted)
            made.append(
                CachedCall(
                    line=call.line,
                    ticks=call.nanoseconds - self.clock.earliest,
                    prompt_tokens=prompt_tokens,
                    cached_tokens=held,
                    output_tokens=call.output_tokens,
                    session=call.session,
                    model=call.model,
                    parts=call.parts,
                )
            )
        CachedCalls.into(self.rows).place(made)
        self.cached.tell(self.rows)
        if not made and self.rows.first_bad is None:
            raise DataError(str(path), "expected sessions with calls, found none")
        return self.rows


def _problem(call: _Call) -> Problem | None:
    tokens = call.tokens or _Tokens()
    wrong_count = (
        length_problem("tokens.prompt", tokens.prompt or 0)
        or length_problem("tokens.cached", tokens.cached or 0)
        or output_problem("tokens.completion", tokens.completion or 0)
    )
    if wrong_count is not None:
        return wrong_count
    for at, part in enumerate(call.message_metadata or ()):
        problem = length_problem(f"message_metadata[{at}].token_len", part.token_len or 0)
        if problem is not None:
            return problem
    return None


def _day(date: str | None) -> int | None:
    """Return the start of a day in nanoseconds since 1970, None for an absent or invalid date."""
    try:
        return None if date is None else parse_time(f"{date} 00:00:00")[0]
    except ValueError:
        return None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a shard, or all shards in a folder."""
    rows = Rows(BlockKeys(1), options.on_bad_line, NANOSECONDS)
    reader = _Reader(rows, CachedMeaning(options.cached_tokens))
    for file in files_in(path, SUFFIXES, LEVELS):
        read_json_lines(file, rows, _Session, reader.take)
    return reader.finish(path)


def matches(head: Head) -> bool:
    """Return whether a session has turns with calls, or a folder holds such shards."""
    if head.names:
        first = first_head(head.path, SUFFIXES, LEVELS)
        return first is not None and matches(first)
    return head.has("session_id", "turns") and head.mentions("llm_calls")


COPILOT = TraceFormat(
    name="copilot",
    title="GitHub Copilot agent sessions: dated calls, token counts, what the cache held",
    read=read,
    matches=matches,
    options=frozenset({"cached_tokens"}),
    not_needed={
        "*.turn_id": "calls of a session follow each other in time",
        "*.tokens.total": "the sum of the other two",
        "*.tokens.cached_pct": "the ratio of the other two",
        "*.tool_batches": "a call comes when it was made, whatever came before",
    },
)
