"""Rows with whole conversations: each answer is a request with everything before it as prompt.

- An answer that comes before any question is no request; it is part of the history.
- A last message without an answer is no request.
- A request arrives at the time of the message before its answer, else at that of the answer or, if
  it is the only one, of the row. Unless all requests have a time, none is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workloads.instants import Instants, Ticks
from workloads.reading.fields import Problem, time_problem
from workloads.text.chat_log import Exchange
from workloads.text.chat_template import Message
from workloads.text.requests import TextRequest, TextRows, Time
from workloads.text.templates import RenderError

ASKING = ("user", "tool")


@dataclass(slots=True)
class Conversations:
    """Builder of the requests of conversations while a file is read."""

    texts: TextRows
    times: Instants = field(default_factory=Instants)
    untimed: int = 0
    at_answers: int = 0

    def take(self, row: Exchange, number: int) -> Problem | None:
        """Add the requests of a conversation, or return what is wrong with it and add none."""
        answer = [] if row.answer is None else [row.answer]
        messages = [*row.messages, *answer]
        if not messages:
            self.texts.rows.note("empty-conversation", number, "without a message: left out")
            return None
        answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
        first = next((at for at, m in enumerate(messages) if m.role in ASKING), len(messages))
        asked = [at for at in answers if at > first]
        times = [_time(row, at, single=len(asked) == 1) for at in asked]
        try:
            ticks = [self.texts.ticks(time) for time, _ in times]
            requests = [self._request(row, messages, at, number) for at in asked]
        except RenderError as error:
            return row.field, str(error)
        except ValueError as error:
            return "timestamp", str(error)
        problem = next(filter(None, map(self._time_problem, ticks)), None)
        if problem is not None:
            return problem
        self._note(row, number, answers, asked, len(messages))
        if row.time is not None and len(asked) > 1 and all(time is None for time, _ in times):
            detail = f"the row's `{row.time_field}` is not used: several answers share it"
            self.texts.rows.note("row-time", number, detail)
        self.at_answers += sum(at_answer for _, at_answer in times)
        for request, tick in zip(requests, ticks, strict=True):
            self._add(request, tick)
        return None

    def finish(self) -> None:
        """Set the times of the rows, if all have one."""
        rows = self.texts.rows
        if self.times and not self.untimed:
            rows.time_ticks = self.times
            if self.at_answers:
                rows.facts.append(
                    f"{self.at_answers:,} requests come at the time of their answer, as the file "
                    "tells no other"
                )
        elif self.times:
            rows.facts.append(
                f"{self.untimed:,} of {len(rows):,} requests tell no time: times are not used"
            )

    def _request(self, row: Exchange, messages: list[Message], at: int, number: int) -> TextRequest:
        prompt, answer = self.texts.chat(number, messages[:at], row.tools, messages[at])
        session = f"conversation {number}" if row.session is None else row.session
        return TextRequest(number, prompt, answer, session=session, label=row.label)

    def _add(self, request: TextRequest, tick: Ticks | None) -> None:
        rows = self.texts.rows
        before = len(rows)
        problem = self.texts.add(request)
        assert problem is None, problem
        if len(rows) > before:
            self.untimed += tick is None
            if tick is not None:
                self.times.append(tick, rows.ticks_per_second)

    def _time_problem(self, tick: Ticks | None) -> Problem | None:
        return time_problem("timestamp", tick, self.texts.rows.ticks_per_second)

    def _note(
        self, row: Exchange, number: int, answers: list[int], asked: list[int], messages: int
    ) -> None:
        note = self.texts.rows.note
        if len(asked) < len(answers):
            note("begins-with-answer", number, "an answer before any question: no request")
        if not answers:
            note("no-answer", number, "a conversation in which nobody answers: no request")
        elif answers[-1] != messages - 1:
            note("unanswered", number, "a last message that nobody answers: no request")


def _time(row: Exchange, at: int, *, single: bool) -> tuple[Time | None, bool]:
    """Return the time of the request for an answer, and whether it is the answer's own time."""
    ahead = len(row.messages) - len(row.times)  # a system prompt from a separate field has no time
    times = [*(None for _ in range(ahead)), *row.times, None]
    if times[at - 1] is not None:
        return times[at - 1], False
    if times[at] is not None:
        return times[at], True
    return (row.time if single else None), False
