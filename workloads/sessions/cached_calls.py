"""Model calls for which only the length of the prompt and of its cached part are known.

The cached tokens of a prompt are a prefix of an earlier prompt. Other tokens may be shared too,
where the cache had evicted or never stored them, so real overlaps are at least as long. Which
earlier prompt it was is unknown; the first of these that is long enough is chosen:

- the call that this one continues, where the file names it, with its answer;
- the last and the longest of its session, with their answers;
- the last and the longest of the first prompts of other sessions, which share their beginnings
  (instructions, tools) only. Where the parts of prompts are known, any prompt of another session
  is eligible, as far as both begin with the same parts.

If none is long enough, the cached prefix comes from prompts that are not in the file, such as those
of a session that began before it: its rest matches nothing, which is noted. Caches belong to one
model: calls of different models share nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from simulator.trace.prefix_tree import ROOT
from workloads.prefixes.prompt_tree import PromptTree
from workloads.reading.fields import Problem, output_problem, prompt_problem
from workloads.rows import Rows
from workloads.sessions.length_rows import length_problem, note_empty_prompt

Part = tuple[str, int]  # kind of a part of a prompt, and its tokens


class CachedCall(msgspec.Struct, frozen=True, gc=False):
    """A call with the length of its prompt and of the cached part.

    Parameters
    ----------
    line
        Its line in the file.
    ticks
        Its time in the file's unit; None if the file has none.
    prompt_tokens, cached_tokens, output_tokens
        Tokens of the whole prompt, of its cached part, and of the answer.
    session, model
        Names, None if there are none.
    parent
        Index, in the list of calls, of the call that this one continues; None if unknown.
    parts
        The parts of the prompt from its start, as far as known. Prompts of different sessions
        share at most the equal parts at their start.
    kin
        Group outside which nothing is shared, such as agents with instructions of their own.
    key
        Isolation key of the prompt, where it differs from that of its line.
    """

    line: int
    ticks: float | None
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    session: str | None = None
    model: str | None = None
    parent: int | None = None
    parts: tuple[Part, ...] = ()
    kin: str = ""
    key: Mapping[str, Any] | None = None

    def problem(self, prompt: str, cached: str, output: str) -> Problem | None:
        """Return what is wrong with the lengths; the arguments are their field names."""
        return (
            length_problem(prompt, self.prompt_tokens)
            or length_problem(cached, self.cached_tokens)
            or output_problem(output, self.output_tokens)
            or (prompt_problem(prompt, self.prompt_tokens) if self.prompt_tokens else None)
        )


class _Place(msgspec.Struct, frozen=True, gc=False):
    """The tree node at which a prompt (or its answer) ends, and the parts of the prompt."""

    node: int
    parts: tuple[Part, ...] = ()


@dataclass(slots=True)
class _Shelf:
    """The last and the longest prompt of a session or of a group of sessions."""

    last: _Place
    longest: _Place


@dataclass(slots=True)
class CachedCalls:
    """Builder of rows from calls; each prompt shares its cached part with an earlier one."""

    rows: Rows
    tree: PromptTree
    shelves: dict[Hashable, _Shelf] = field(default_factory=dict)

    @classmethod
    def into(cls, rows: Rows) -> CachedCalls:
        """Return a builder that fills empty rows and sets their prompts."""
        tree = PromptTree()
        rows.prompts = tree
        return cls(rows, tree)

    def place(self, calls: Sequence[CachedCall]) -> None:
        """Add all calls of a file in the order of time (a stable sort)."""
        after: dict[int, _Place] = {}
        order = range(len(calls))
        for number in sorted(order, key=lambda number: calls[number].ticks or 0.0):
            call = calls[number]
            if not call.prompt_tokens:
                note_empty_prompt(self.rows, call.line)
                continue
            leaf, end = self._grow(call, self._kept(call, calls, after))
            after[number] = self._shelve(call, leaf, end)
            output, ticks = call.output_tokens, call.ticks
            if call.key is not None:
                self.rows.isolation.look_within(call.line, call.key)
            self.rows.add(call.line, call.prompt_tokens, output, ticks, call.session, call.model)
        if any(call.cached_tokens for call in calls):
            detail = "prompts share what the server's cache held of them: real overlaps are larger"
            self.rows.facts.append(f"{detail} where it had lost or never kept something")

    def _kept(self, call: CachedCall, calls: Sequence[CachedCall], after: dict[int, _Place]) -> int:
        """Return the node at which the cached part of a prompt ends."""
        stop, best, depth = self.tree.stop, ROOT, 0
        for place, most in self._candidates(call, calls, after):
            shared = min(call.cached_tokens, stop[place.node], most)
            if shared > depth:
                best, depth = place.node, shared
            if depth == call.cached_tokens:
                break
        if depth < call.cached_tokens:
            detail = "the cache held a prefix that no earlier prompt has: its rest is taken as new"
            self.rows.note("unknown-prefix", call.line, detail)
        return self.tree.cut(best, depth)

    def _candidates(
        self, call: CachedCall, calls: Sequence[CachedCall], after: dict[int, _Place]
    ) -> Iterator[tuple[_Place, int]]:
        """Yield earlier prompts that a prompt may continue, each with the most it can share."""
        whole = call.prompt_tokens
        before = call.parent
        if before is not None and before in after and calls[before].model == call.model:
            yield after[before], whole
        for place in self._standing(_session(call)):
            yield place, whole
        for place in self._standing(_family(call)):
            if place.parts and call.parts:
                yield place, _alike(place.parts, call.parts)
            elif call.cached_tokens <= self.tree.stop[place.node]:
                yield place, whole

    def _standing(self, key: Hashable) -> Iterator[_Place]:
        shelf = self.shelves.get(key)
        if shelf is not None:
            yield from (shelf.last, shelf.longest)

    def _grow(self, call: CachedCall, kept: int) -> tuple[int, int]:
        """Add a prompt and its answer; return the nodes at which they end."""
        tree = self.tree
        leaf = tree.extend(kept, call.prompt_tokens - tree.stop[kept])
        end = tree.extend(leaf, call.output_tokens)
        tree.add(leaf, end)
        return leaf, end

    def _shelve(self, call: CachedCall, leaf: int, end: int) -> _Place:
        """Register a prompt as a candidate for later ones, with its answer for its own session."""
        place = _Place(end)
        is_first = call.session is None or _session(call) not in self.shelves
        if call.session is not None:
            self._put(_session(call), place)
        if is_first or call.parts:
            self._put(_family(call), _Place(leaf, call.parts))
        return place

    def _put(self, key: Hashable, place: _Place) -> None:
        shelf = self.shelves.setdefault(key, _Shelf(place, place))
        shelf.last = place
        if self.tree.stop[place.node] > self.tree.stop[shelf.longest.node]:
            shelf.longest = place


def _session(call: CachedCall) -> Hashable:
    return "session", call.session, call.model, call.kin


def _family(call: CachedCall) -> Hashable:
    return "family", call.model, call.kin


def _alike(one: tuple[Part, ...], other: tuple[Part, ...]) -> int:
    """Return the tokens of the equal parts at the start of two prompts."""
    tokens = 0
    for part, counterpart in zip(one, other, strict=False):
        if part != counterpart:
            break
        tokens += part[1]
    return tokens
