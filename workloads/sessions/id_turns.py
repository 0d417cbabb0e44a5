"""Turns of sessions whose prompts are block ids: arrival times, and whole or incremental rows.

Source: the multi-turn rows of ai-dynamo/aiperf and of the `mooncake-delta` replay of
ai-dynamo/dynamo: `session_id`, only new tokens and new ids, and `delay`, which counts from the
previous answer. Other tools write the same fields with whole contexts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulator.base.errors import DataError, SettingError, printable
from workloads.anomaly import Anomaly
from workloads.instants import Ticks, exact
from workloads.options import ReadOptions
from workloads.prefixes.id_tree import IdTree
from workloads.reading.fields import MAX_TOKENS, Problem, presence_problem, time_problem
from workloads.reading.id_blocks import IdBlocks
from workloads.rows import Rows
from workloads.sessions.closed_loop import answer_ticks, note_closed_loop
from workloads.sessions.layout import lay_out

Session = str | int | None


@dataclass(slots=True)
class IdTurns:
    """The turns of a file while it is read.

    - A turn without a time arrives `delay` after the previous answer in its session, see
      `closed_loop`. Where no row has a time, sessions all start at 0 or at a `session_rate`.
      Without any time or delay there are no times.
    - Rows are incremental if the options or the rows say so. Otherwise they are if most later turns
      of sessions wait for an answer (with a delay, or without a time where others have one) and do
      not begin like the previous turn: with its first id or, where that has no whole block, with at
      least as many tokens as it and its answer.
    """

    rows: Rows
    blocks: IdBlocks
    options: ReadOptions
    declared_incremental: set[bool] = field(default_factory=set)  # values stated by rows
    stamped: bool = False
    delayed: bool = False
    before: dict[int, tuple[int, Ticks]] = field(default_factory=dict)  # a session's last row
    untimed: list[Ticks] = field(default_factory=list)  # times if sessions started at 0
    shown: list[int] = field(default_factory=list)  # tokens of each row and its answer
    later: list[tuple[int, int, bool]] = field(
        default_factory=list
    )  # row, previous row, whether it waits

    def problem(self, session: Session, time: Ticks | None, delay: Ticks | None) -> Problem | None:
        """Return the first problem with the times of a row, or None."""
        follows = session is not None and session in self.rows.sessions
        first = not len(self.rows) or (time is None and follows)
        return (
            presence_problem("timestamp", time, first=first, timed=self.stamped)
            or time_problem("timestamp", time, self.rows.ticks_per_second)
            or time_problem("delay", delay, self.rows.ticks_per_second)
        )

    def ticks(
        self, session: Session, time: Ticks | None, delay: Ticks | None, line: int
    ) -> Ticks | None:
        """Return the arrival time in ticks of a valid row that is about to be added."""
        row, number = len(self.rows), None
        if session is not None:
            number = self.rows.sessions.get(session, len(self.rows.sessions))
        self.stamped = self.stamped or time is not None
        self.delayed = self.delayed or delay is not None
        known = None if number is None else self.before.get(number)
        now = time
        if now is None:
            now = exact(delay or 0)
            if known is not None:
                output = self.rows.output_tokens[known[0]]
                now += exact(known[1]) + answer_ticks(output, self.rows.ticks_per_second)
        if known is not None:
            waits = time is None and (self.stamped or delay is not None)
            self.later.append((row, known[0], waits))
            if waits:
                note_closed_loop(self.rows, line)
        if number is not None:
            self.before[number] = row, now
        if not self.stamped:
            self.untimed.append(now)
            return None
        return now

    def finish(self, path: str) -> Rows:
        """Return the rows with their prompts, and with times where there are any.

        Raises
        ------
        UsageError
            For a `session_rate` where sessions have times of their own, or where there are none.
        """
        if self._incremental():
            self._grow(path)
        else:
            self.blocks.give_to(self.rows)
        if self.delayed and not self.stamped:
            for ticks in self.untimed:
                self.rows.time_ticks.append(ticks, self.rows.ticks_per_second)
        self.rows.closed_loop = bool(self.rows.time_ticks) and any(t for *_, t in self.later)
        self._lay_out(path)
        return self.rows

    def _lay_out(self, path: str) -> None:
        sessions = np.frombuffer(self.rows.session, dtype=np.int32)
        if self.rows.time_ticks and not self.stamped and (sessions >= 0).all():
            lay_out(self.rows, self.options)
        elif self.options.session_rate is not None:
            name = printable(path)
            raise SettingError("session_rate", f"{name} has no sessions, or tells when they start")

    def _incremental(self) -> bool:
        """Return whether rows hold only what is new; add a note if this was inferred."""
        if self.options.rows is not None:
            return self.options.rows == "incremental"
        if self.declared_incremental:
            return True in self.declared_incremental
        fresh = [row for row, above, _ in self.later if not self._goes_on(row, above)]
        waiting = sum(waits for *_, waits in self.later)
        if not self.later or 2 * min(len(fresh), waiting) <= len(self.later):
            return False
        detail = (
            "later turns of a session wait for its answers, and do not begin as the turn before: "
            "rows are read as what is new (--rows cumulative: as whole prompts)"
        )
        line = self.rows.line[fresh[0]]
        self.rows.oddities["incremental-rows"] = Anomaly(
            "incremental-rows", len(fresh), line, detail
        )
        return True

    def _goes_on(self, row: int, above: int) -> bool:
        ids, other = self.blocks.keys.of_row(row), self.blocks.keys.of_row(above)
        lengths = self.rows.prompt_tokens
        if ids and other and lengths[above] >= self.blocks.size_of_row(above):
            return ids[0] == other[0]
        return lengths[row] >= lengths[above] + self.rows.output_tokens[above]

    def _grow(self, path: str) -> None:
        """Set each prompt to its session's context followed by the tokens of its row."""
        rows, tree = self.rows, IdTree()
        above = {row: known for row, known, _ in self.later}
        self.shown = [
            sum(pair) for pair in zip(rows.prompt_tokens, rows.output_tokens, strict=True)
        ]
        for row, added in enumerate(rows.prompt_tokens):
            context = tree.after[above[row]] if row in above else None
            ids, block = self.blocks.keys.of_row(row), self.blocks.size_of_row(row)
            leaf = tree.place(context, ids, added, block)
            tree.add(leaf, tree.extend(leaf, rows.output_tokens[row]))
            self._note(row, above.get(row), added)
        self._note_tails()
        lengths = [tree.stop[leaf] for leaf in tree.leaf]
        longest = max(range(len(lengths)), key=lengths.__getitem__, default=None)
        if longest is not None and lengths[longest] > MAX_TOKENS:
            what = f"expected at most {MAX_TOKENS:,} tokens of context, found {lengths[longest]}"
            raise DataError(path, what, line=rows.line[longest], field="input_length")
        del rows.prompt_tokens[:]
        rows.prompt_tokens.extend(lengths)
        rows.prompts = tree

    def _note_tails(self) -> None:
        """Add a note on rows with fewer ids than blocks."""
        blocks, rows = self.blocks, self.rows
        short = sum(
            len(blocks.keys.of_row(row)) * blocks.size_of_row(row) < added
            for row, added in enumerate(rows.prompt_tokens)
        )
        if short:
            rows.facts.append(f"{short:,} rows have a tail without an id, which matches nothing")

    def _note(self, row: int, above: int | None, added: int) -> None:
        """Note a row without a session, and one that looks like a whole context."""
        rows, line = self.rows, self.rows.line[row]
        if rows.session[row] < 0:
            rows.note("no-session", line, "an incremental row without a session: read alone")
        elif above is not None and added >= self.shown[above]:
            detail = "adds the turn before and its answer, or more: are rows cumulative (--rows)?"
            rows.note("growing-turn", line, detail)
