"""Transcripts of Claude Code: JSON lines of sessions, as one file or a folder of projects.

Source: the files that Claude Code writes to `~/.claude/projects`, one for each session and, in
newer versions, one for each agent. Lines of type `assistant` have `message.usage`; other lines only
matter for the order of calls.

- A call is one message of the assistant. Each of its content blocks has a line, with the same
  `message.id` and usually the same usage. The largest usage counts, as an earlier one may be that
  of an unfinished answer.
- Resumed sessions repeat earlier calls: those with the same `message.id` and the same request, time
  or usage are one call, whichever file or session they are in.
- A prompt is the sum of `input_tokens`, `cache_read_input_tokens` and
  `cache_creation_input_tokens`. The part that the server's cache held is shared with the call that
  it continues by `parentUuid`, else with its session or others (`workloads.sessions.cached_calls`).
  Calls of agents (`isSidechain`) share nothing with others.
- A session is `sessionId`; an agent in it (`agentId`, or its first line) is a session of its own.
  The label is the model.
- A call arrives with the line before it (the user's message or a tool result), else with its own
  first line. A call without a date is left out and noted.
- Error messages, which the program has written itself, and calls without usage are left out and
  noted, as are prompts of no token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.formats.parts.claude_lines import (
    SYNTHETIC,
    ClaudeCall,
    ClaudeMessage,
    Line,
    message_of,
)
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import Problem
from workloads.reading.folders import files_in, first_head
from workloads.reading.json_lines import read_json_lines
from workloads.reading.nanoseconds import NANOSECONDS, NanosecondClock
from workloads.reading.reader import read_lines
from workloads.rows import Rows
from workloads.sessions.cached_calls import CachedCall, CachedCalls
from workloads.sessions.cached_tokens import CachedMeaning, Usual

SUFFIXES = (".jsonl", ".jsonl.gz")
LEVELS = 5  # of folders: projects, a project, a session, its agents, and one more

GROUP = "Claude Code"
USUAL = Usual("outside", "as Anthropic counts")


class _Before(NamedTuple):
    """A line of a transcript, with its parent, its time and the number of its call, if any."""

    parent: str | None
    nanoseconds: int | None
    call: int | None


@dataclass(slots=True)
class _Reader:
    """Reader of a file or folder, which collects its calls."""

    rows: Rows
    cached: CachedMeaning
    clock: NanosecondClock = field(default_factory=NanosecondClock)
    calls: list[ClaudeCall] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    lines: dict[str, _Before] = field(default_factory=dict)
    roots: dict[str, str] = field(
        default_factory=dict
    )  # first lines of agents without a name, by line

    def take(self, file: Path, line: Line, number: int) -> Problem | None:
        """Take a line of a file, or return what is wrong with it."""
        if line.type != "assistant" and line.uuid is None:
            return None
        try:
            now = None if line.timestamp is None else self.clock.see(line.timestamp)
        except ValueError as error:
            return "timestamp", str(error)
        call = None
        if line.type == "assistant":
            message, problem = message_of(line)
            if message is None:
                return problem
            call = self._take_message(line, message, now, file, number)
        if line.uuid is not None:
            if line.isSidechain:
                self.roots.setdefault(line.uuid, self._root(line))
            self.lines.setdefault(line.uuid, _Before(line.parentUuid, now, call))
        return None

    def _take_message(
        self, line: Line, message: ClaudeMessage, now: int | None, file: Path, number: int
    ) -> int | None:
        """Return the number of the call that a line belongs to, None if no model wrote it."""
        if line.isApiErrorMessage or message.model == SYNTHETIC:
            detail = "a message of an error, which no model has written: left out"
            self.rows.note("api-error", number, detail)
            return None
        chain = self._chain(line, file)
        name = message.id or line.requestId or line.uuid or f"{file}:{number}"
        call = self.numbers.setdefault((chain, name), len(self.calls))
        if call == len(self.calls):
            side = bool(line.isSidechain)
            ids = message.id, line.requestId, message.model, line.parentUuid
            self.calls.append(ClaudeCall(file, number, chain, side, *ids, now))
        self.calls[call].take(message.usage)
        return call

    def _chain(self, line: Line, file: Path) -> str:
        """Return the name of a line's context: its session, or an agent within the session."""
        session = line.sessionId or file.name.partition(".")[0]
        if not line.isSidechain:
            return session
        return f"{session}/{line.agentId or self._root(line)}"

    def _root(self, line: Line) -> str:
        """Return the id of the first line of an agent without a name."""
        before = line.parentUuid
        if before is not None and (before in self.roots or before not in self.lines):
            return self.roots.get(before, before)
        return line.uuid or ""

    def finish(self, path: Path) -> Rows:
        """Return the rows."""
        same = self._copies()
        kept = [n for n in range(len(self.calls)) if same[n] == n and self._is_known(n)]
        places = {number: place for place, number in enumerate(kept)}
        for number in kept:
            usage = self.calls[number].usage
            if usage is not None:
                self.cached.see(GROUP, usage.counted(), USUAL, self.calls[number].line)
        made = [self._made(number, places, same) for number in kept]
        CachedCalls.into(self.rows).place(made)
        self.cached.tell(self.rows)
        if not made and self.rows.first_bad is None:
            raise DataError(str(path), "expected messages of an assistant with usage, found none")
        return self.rows

    def _copies(self) -> list[int]:
        """Return for each call its own number, or the number of the call that it repeats."""
        alike: defaultdict[str, list[int]] = defaultdict(list)
        same = list(range(len(self.calls)))
        for number, call in enumerate(self.calls):
            if call.message_id is None:
                continue
            known = alike[call.message_id]
            first = next((n for n in known if call.is_copy_of(self.calls[n])), None)
            if first is None:
                known.append(number)
                continue
            same[number] = first
            self.calls[first].take(call.usage)
            detail = "a call that another session has already, as resumed ones have: left out"
            self.rows.note("repeated-call", call.line, detail)
        return same

    def _is_known(self, number: int) -> bool:
        call = self.calls[number]
        if call.usage is None:
            self.rows.note("no-usage", call.line, "a call without token counts: left out")
        elif call.nanoseconds is None:
            self.rows.note("no-time", call.line, "a call without a date: left out")
        return call.usage is not None and call.nanoseconds is not None

    def _made(self, number: int, places: dict[int, int], same: list[int]) -> CachedCall:
        call = self.calls[number]
        counted = call.usage.counted() if call.usage else None
        prompt_tokens, held = (0, 0) if counted is None else self.cached.prompt(GROUP, counted)
        return CachedCall(
            line=call.line,
            ticks=self._ticks(call),
            prompt_tokens=prompt_tokens,
            cached_tokens=held,
            output_tokens=(call.usage and call.usage.output_tokens) or 0,
            session=call.chain,
            model=call.model,
            parent=self._parent(number, places, same),
            kin="agent" if call.sidechain else "",
        )

    def _ticks(self, call: ClaudeCall) -> int:
        """Return a call's arrival: the time of the line before it, unless that is a call's too."""
        own = call.nanoseconds or 0
        before = self.lines.get(call.parent or "")
        if before is not None and before.call is None and before.nanoseconds is not None:
            own = min(own, before.nanoseconds)
        return own - self.clock.earliest

    def _parent(self, number: int, places: dict[int, int], same: list[int]) -> int | None:
        """Return the position of the call that a call continues, None if it is unknown."""
        call = self.calls[number]
        for before in self._back(call.parent):
            if before.call is None or same[before.call] == number:
                continue
            other = self.calls[before.call]
            together = not other.sidechain if not call.sidechain else other.chain == call.chain
            return places.get(same[before.call]) if together else None
        return None

    def _back(self, uuid: str | None) -> Iterator[_Before]:
        """Yield the chain of parent lines back to the first; a cycle ends it."""
        passed = set()
        while uuid is not None and uuid in self.lines and uuid not in passed:
            passed.add(uuid)
            before = self.lines[uuid]
            yield before
            uuid = before.parent


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a transcript, or all transcripts in a folder."""
    rows = Rows(BlockKeys(1), options.on_bad_line, NANOSECONDS)
    reader = _Reader(rows, CachedMeaning(options.cached_tokens))
    for file in files_in(path, SUFFIXES, LEVELS):
        if file == path or next(read_lines(file), None) is not None:
            read_json_lines(file, rows, Line, partial(reader.take, file))
    return reader.finish(path)


def matches(head: Head) -> bool:
    """Return whether lines have a session and a parent, or a folder holds such files."""
    if head.names:
        first = first_head(head.path, SUFFIXES, LEVELS)
        return first is not None and matches(first)
    return head.text[:1] == b"{" and head.mentions("type", "sessionId", "parentUuid")


CLAUDE_CODE = TraceFormat(
    name="claude-code",
    title="Claude Code transcripts: calls of sessions and agents, dates, what the cache held",
    read=read,
    matches=matches,
    options=frozenset({"cached_tokens"}),
    not_needed=dict.fromkeys(
        ("cwd", "version", "gitBranch", "userType", "slug", "leafUuid", "summary"),
        "says nothing of what a model was asked",
    ),
)
