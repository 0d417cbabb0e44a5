"""Caps on the states that are resident for one prefix.

A placer's budget limits one placement: prompts that share a prefix may each store states on it, so
that it comes to hold many. A cap limits what is resident, and is named by a string:

`path:8`, or `8`
    No path from the root holds more than 8 states: no prompt, seen or to come, has more states on
    its way. A state of a shared prefix counts for every path through it.
`entry:8`
    The tokens that one request was the first to bring hold at most 8 states. So a document has 8,
    wherever its questions place theirs, and each question has 8 of its own behind it. This is the
    original's cap on each cached prefix, without its copies of what entries share.

Where new states exceed the cap, the placer says which stay (`Retaining`). States that other
running requests use are not given up; where only those are left, the new ones are not stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.base.errors import UsageError, printable
from simulator.cache.request import Running
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.prefix import Prefix
from simulator.plugins.protocols import Placer, Retaining
from simulator.plugins.retention import evenly_retained

PATH: Final = "path"
ENTRY: Final = "entry"
MOST_STATES: Final = 10**9
_FORM: Final = re.compile(r"(?:(?P<scope>path|entry):)?(?P<most>[0-9]{1,10})", re.ASCII)


@dataclass(frozen=True, slots=True)
class CapRule:
    """What a cap counts, "path" or "entry", and the largest number of states."""

    scope: str
    most: int

    @property
    def name(self) -> str:
        """Its one spelling."""
        return f"{self.scope}:{self.most}"


def parse_cap(text: str) -> CapRule:
    """Parse the name of a cap.

    Raises
    ------
    UsageError
        If it is neither a number nor `path:` or `entry:` with one.
    """
    form = _FORM.fullmatch(text.strip())
    if form is None or not 1 <= int(form["most"]) <= MOST_STATES:
        raise UsageError(
            f"unknown cap '{printable(text, 60)}'; expected path:8 (states of one path from the "
            "root), entry:8 (of what one request was the first to bring), or 8, which is path:8"
        )
    return CapRule(form["scope"] or PATH, int(form["most"]))


class StateCap:
    """The cap of one cache; it decides what is given up, and the cache drops it.

    Parameters
    ----------
    rule
        What is counted, and the largest number.
    placer
        Chooses what stays.
    step
        As in `Prefix`.
    """

    def __init__(self, rule: CapRule, placer: Placer, step: int) -> None:
        self.rule = rule
        self._most = rule.most
        self._by_path = rule.scope == PATH
        self._name = type(placer).__name__
        self._retaining = placer if isinstance(placer, Retaining) else None
        self._step = step
        # By span: the spans below it on whose paths states were stored. Only for "path".
        self._below: dict[KvSpan, list[KvSpan]] = {}
        self._known: set[KvSpan] = set()
        # By request: the states in the tokens that it was the first to bring. Only for "entry".
        self._of: dict[int, list[Checkpoint]] = {}

    def note(self, stored: Sequence[Checkpoint]) -> None:
        """Remember states that were just stored."""
        for checkpoint in stored:
            span = checkpoint.span
            if not self._by_path:
                self._of.setdefault(span.request, []).append(checkpoint)
                continue
            while span.stop and span not in self._known:
                self._known.add(span)
                self._below.setdefault(span.parent, []).append(span)
                span = span.parent

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Insert `upper`, the new upper part of `lower`, above it."""
        if lower in self._known:
            siblings = self._below[upper.parent]
            siblings[siblings.index(lower)] = upper
            self._below[upper] = [lower]
            self._known.add(upper)

    def choose(
        self, running: Running, prefix: Prefix, end: KvSpan, positions: Sequence[int]
    ) -> tuple[list[int], list[Checkpoint]]:
        """Decide what stays, were states stored at `positions` of the path that ends at `end`.

        Nothing is changed. Positions that already hold a state count as wanted.

        Parameters
        ----------
        running
            The request that stores them; the state that it resumed from may be given up.
        prefix
            Its prompt.
        end
            The span that holds the last position, or one below it.
        positions
            Ascending positions in tokens.

        Returns
        -------
        tuple
            The positions without a state where one may be stored, ascending, and the resident
            states to give up.
        """
        choice = _Choice(running, prefix, end, positions)
        if self._by_path:
            while (leaf := self._exceeding(choice)) is not None:
                states = [one for one in _states_above(leaf) if one not in choice.left]
                self._relieve(choice, leaf, states, choice.on_path_to(leaf))
        else:
            for owner, own in choice.by_owner().items():
                states = [one for one in self._states_of(owner) if one not in choice.left]
                leaf = max((one.span for one in states), key=_stop_of, default=end)
                self._relieve(choice, leaf, states, own)
        return choice.new, list(choice.left)

    def within(self, prefix: Prefix, wanted: list[int]) -> list[int]:
        """Return those of the positions wanted in a prompt without states that may be stored."""
        if len(wanted) <= self._most:
            return wanted
        return sorted(self._retained(prefix, [], wanted, self._most))

    def _relieve(
        self, choice: _Choice, leaf: KvSpan, states: list[Checkpoint], new: list[int]
    ) -> None:
        """Give up what the placer does not keep of `states` and `new`, if they are too many."""
        if len(states) + len(new) <= self._most:
            return
        movable = {one.position: one for one in states if choice.may_leave(one)}
        most = self._most - (len(states) - len(movable))
        wanted = sorted({*new, *(p for p in movable if p in choice.wanted)})
        resident = sorted(position for position in movable if position not in choice.wanted)
        kept = self._retained(choice.prefix_to(leaf, self._step), resident, wanted, most)
        choice.give_up([one for position, one in movable.items() if position not in kept])
        choice.new = [p for p in choice.new if p in kept or p not in wanted]

    def _retained(
        self, prefix: Prefix, states: list[int], wanted: list[int], most: int
    ) -> set[int]:
        """Ask the placer what stays.

        Raises
        ------
        UsageError
            If it keeps more than `most`, or positions that it was not asked about.
        """
        if not most:
            return set()
        if self._retaining is None:
            deepest = max(prefix.prompt_tokens, *states[-1:], *wanted[-1:])
            return set(evenly_retained(states, wanted, most, deepest))
        kept = set(self._retaining.retain(prefix, states, wanted, most))
        if len(kept) > most or not kept <= {*states, *wanted}:
            raise UsageError(
                f"placer {self._name}: retain returned {printable(repr(sorted(kept)), 60)}; "
                f"expected at most {most} of the positions that it was given"
            )
        return kept

    # --- counting -----------------------------------------------------------------------------

    def _states_of(self, owner: int) -> list[Checkpoint]:
        """Return the resident states of what a request brought, after forgetting the others."""
        states = [one for one in self._of.get(owner, ()) if one.resident]
        self._of[owner] = states
        return states

    def _exceeding(self, choice: _Choice) -> KvSpan | None:
        """Return the last span of a path with too many states, None if there is none.

        Only paths through a new or wanted position can have too many. The own path comes first.
        """
        top = choice.top()
        if top is None:
            return None
        above = sum(one not in choice.left for one in _states_above(top.parent))
        pending = [(top, above)]
        while pending:
            span, count = pending.pop()
            count += sum(one not in choice.left for one in span.checkpoints)
            count += choice.new_in(span)
            below = self._below.get(span)
            own = choice.next.get(span)
            if below:
                pending += [(one, count) for one in below if one is not own]
            if own is not None:
                pending.append((own, count))
            elif not below:
                if count > self._most:
                    return span
                if not span.checkpoints:
                    self._forget(span)
        return None

    def _forget(self, span: KvSpan) -> None:
        """Forget a span without states, below which there are none."""
        if span in self._known:
            self._known.discard(span)
            self._below.pop(span, None)
            siblings = self._below[span.parent]
            siblings.remove(span)

    def fault(self, spans: Sequence[KvSpan]) -> str | None:
        """Recount the cap over all spans; return what is wrong, or None."""
        counts: dict[KvSpan | int, int] = {}
        for span in spans:
            key = span if self._by_path else span.request
            counts[key] = counts.get(key, 0) + len(span.checkpoints)
        if self._by_path:
            most = max((_summed(span, counts) for span in spans), default=0)
        else:
            most = max(counts.values(), default=0)
        if most > self._most:
            return f"{most} states, where {self.rule.scope}:{self._most} is the cap"
        return None


class _Choice:
    """New states of a request, and what has been decided about them.

    Attributes
    ----------
    new
        Positions where states are still to be stored, ascending.
    wanted
        All positions that were asked for, those that hold a state already, too.
    left
        Resident states to give up, in order of the decisions.
    next
        By span of the own path: the span below it on this path, None at its end.
    """

    def __init__(
        self, running: Running, prefix: Prefix, end: KvSpan, positions: Sequence[int]
    ) -> None:
        self.prefix = prefix
        self.wanted = set(positions)
        self.left: dict[Checkpoint, None] = {}
        self.next: dict[KvSpan, KvSpan | None] = {}
        self._own = running.match.checkpoint
        self._end = end
        first = positions[0] if len(positions) else end.stop + 1
        held: set[int] = set()
        below: KvSpan | None = None
        span = end
        while span.stop >= first:
            self.next[span] = below
            held.update(one.position for one in span.checkpoints)
            below, span = span, span.parent
        self._top = below
        self.new = [position for position in positions if position not in held]

    def top(self) -> KvSpan | None:
        """Return the highest span of the own path that holds a wanted position."""
        return self._top

    def new_in(self, span: KvSpan) -> int:
        """Return the number of new states in a span."""
        if span not in self.next:
            return 0
        return sum(span.start < position <= span.stop for position in self.new)

    def on_path_to(self, leaf: KvSpan) -> list[int]:
        """Return the new positions that lie on the path to `leaf`."""
        while leaf.stop and leaf not in self.next:
            leaf = leaf.parent
        return [position for position in self.new if position <= leaf.stop]

    def by_owner(self) -> dict[int, list[int]]:
        """Return the new and wanted positions by the request that brought their tokens first."""
        owners: dict[int, list[int]] = {}
        for span in self.next:
            own = [position for position in self.new if span.start < position <= span.stop]
            owners.setdefault(span.request, []).extend(own)
        return owners

    def may_leave(self, checkpoint: Checkpoint) -> bool:
        """Tell whether no other running request uses a state."""
        return checkpoint.pins == (1 if checkpoint is self._own else 0)

    def give_up(self, states: list[Checkpoint]) -> None:
        """Add resident states to those given up."""
        for checkpoint in states:
            self.left[checkpoint] = None

    def prefix_to(self, leaf: KvSpan, step: int) -> Prefix:
        """Return the own prompt, or where `leaf` is on another path, that which ends there."""
        if leaf in self.next or leaf.stop <= self._end.stop:
            return self.prefix
        return Prefix(leaf.stop, 0, leaf.stop, step, -1, -1, leaf)


def _stop_of(span: KvSpan) -> int:
    """Return where a span ends, in tokens."""
    return span.stop


def _states_above(span: KvSpan) -> Iterator[Checkpoint]:
    """Yield the states on the path to the end of a span, from the deepest upwards."""
    while span.stop:
        yield from reversed(span.checkpoints)
        span = span.parent


def _summed(span: KvSpan, counts: dict[KvSpan | int, int]) -> int:
    """Return the sum of `counts` over the path to a span."""
    total = 0
    while span.stop:
        total += counts[span]
        span = span.parent
    return total
