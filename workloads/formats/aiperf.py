"""Inputs of AIPerf and GenAI-Perf: turns as text or as lengths, with times or delays.

Source: ai-dynamo/aiperf, its custom data sets, and triton-inference-server/perf_analyzer. A line
is one turn (`text`, `texts` or `text_input`; or `input_length` without text), or a session with
its `turns`. What the first line has, text or lengths, all have. Lines with `hash_ids` are those
of the format `mooncake`.

- Turns of a session and lines of lengths that name a session are incremental: AIPerf sends the
  history with each. Lines of text are cumulative, sessions or not. The option `rows` goes first.
- Text is a message of the user, or of its `role`, within the chat template of `workloads.text`. A
  first turn of the system's is no request: it stands before those that follow.
- Answers are made by the server. They stand in the history as `output_length` tokens that match
  nothing else; without that length as none, which is noted.
- `timestamp` (or else `time`) is in milliseconds. A turn without one comes `delay` milliseconds
  after the answer before, see `workloads.sessions.closed_loop`, or after the session's start. Where
  no turn has a `timestamp`, sessions start together at 0, which is noted, or at a `session_rate`;
  without any `delay` either there are no times.
- Images, sounds and videos are noted. With text, each is a short mark behind the text of its turn,
  which differs where the medium does; with lengths alone they are passed over.
- Prefixes of turns with another `cache_salt`, `lora_name` or `model` are kept apart.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from simulator.base.errors import DataError, SettingError, printable
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import Problem, output_problem, time_problem
from workloads.reading.json_lines import read_json_lines
from workloads.reading.time_fields import TIME_FIELDS
from workloads.reading.times import OTHER_THINGS, UNWRITTEN, Written, number_or_date
from workloads.rows import Rows
from workloads.sessions.layout import lay_out
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest, length_problem
from workloads.sessions.turns import AskingTurn, Name, Turn, set_times
from workloads.text.chat_template import part_mark
from workloads.text.histories import Histories
from workloads.text.prompt_line import ANSWER_FIELDS, OUTPUT_FIELDS, PROMPT_FIELDS
from workloads.text.requests import TextRequest, TextRows

FIELDS = Fields("input_length", "output_length", "timestamp", "session_id")


class _Turn(Turn):
    """A turn with what keeps its prefix apart from others, and another name of its time."""

    time: Written = UNWRITTEN

    def settle(self) -> Problem | None:
        """Take the time from its other name where there is no `timestamp`, or say what is wrong."""
        if self.timestamp is not None or bytes(self.time)[:1] in OTHER_THINGS:
            return None
        time = number_or_date(self.time)
        if isinstance(time, str):
            return "time", "expected a number, found text"
        self.timestamp = None if time is None else Decimal(time)
        return None


class _Line(_Turn):
    """A turn, or a session of some."""

    session_id: Name | None = None
    turns: list[_Turn] | None = None


class _Reader:
    """The turns of a file, which become rows once all are known."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.rows = Rows(BlockKeys(1), options.on_bad_line, options.ticks_per_second("ms"))
        self.systems: dict[str | int, tuple[str, str]] = {}
        self.asked: list[AskingTurn] = []
        self.keys: dict[int, int] = {}  # of prefixes, by the id() of a turn that is kept
        self.texts: bool | None = None
        self.incremental = False

    def take(self, line: _Line, number: int) -> Problem | None:
        """Keep the turns of a line, or say what is wrong with one."""
        whole = line.turns is not None
        turns: list[_Turn] = [line] if line.turns is None else line.turns
        if not turns:
            return "turns", "expected at least one turn, found none"
        if self.texts is None and turns[0].says_something():
            self._decide(line, turns[0])
        for at, turn in enumerate(turns):
            problem = turn.settle() or self._problem(turn)
            if problem is not None:
                field, what = problem
                return f"turns[{at}].{field}" if whole else field, what
        self._keep(line, turns, number)
        return None

    def _decide(self, line: _Line, first: _Turn) -> None:
        """Take what the first line has for what all have."""
        self.texts = first.whole_text() is not None
        grows = line.turns is not None or not (self.texts or line.session_id is None)
        rows = self.options.rows
        self.incremental = grows if rows is None else rows == "incremental"

    def _problem(self, turn: Turn) -> Problem | None:
        if self.texts is None:
            return "text", "expected a text or an input_length, found none"
        if self.texts and turn.whole_text() is None:
            return "text", "expected a text as on the first line, found none"
        if not self.texts and (turn.input_length is None or turn.whole_text() is not None):
            return "input_length", "expected a length, and no text, as on the first line"
        ticks_per_second = self.rows.ticks_per_second
        return (
            length_problem("input_length", turn.input_length or 0)
            or output_problem("output_length", turn.output_length or 0)
            or time_problem("timestamp", turn.timestamp, ticks_per_second)
            or time_problem("delay", turn.delay, ticks_per_second)
        )

    def _keep(self, line: _Line, turns: list[_Turn], number: int) -> None:
        session: str | int | None = line.session_id
        if session is None and line.turns is not None:
            session = number  # which no name in a file is
        if line.turns is not None:
            self._look(turns, number)
        for at, turn in enumerate(turns):
            if turn.media():
                self.rows.note("media", number, self._media_detail())
            hoisted = self.incremental and at == 0 and len(turns) > 1 and turn.only_says()
            if hoisted and session is not None and session not in self.systems:
                self.systems[session] = turn.role, turn.whole_text() or ""
            else:
                self.asked.append(AskingTurn(number, session, turn))

    def _media_detail(self) -> str:
        if self.texts:
            return "images, sounds and videos count as a short mark each, behind their turn's text"
        return "images, sounds and videos are passed over: lengths are as the file tells them"

    def finish(self) -> Rows:
        """Make rows in the order of time.

        Raises
        ------
        UsageError
            For a rate of sessions that have their times, or for turns that have no session.
        """
        path = str(self.path)
        ordered = set_times(path, self.asked, self.rows)
        texts = TextRows.into(self.rows, self.options) if self.texts else None
        add = _lengths(self) if texts is None else _texts(self, texts)
        for asked in ordered:
            self._keep_apart(asked)
            problem = add(asked)
            if problem is not None:
                field, what = problem
                self.rows.refuse(DataError(path, what, line=asked.line, field=field))
        if not len(self.rows) and self.rows.first_bad is None:
            raise DataError(path, "expected turns that ask for an answer, found none")
        if texts is not None:
            texts.finish()
            self.rows.facts.append("answers match nothing else")
        self._lay_out()
        return self.rows

    def _look(self, turns: list[_Turn], number: int) -> None:
        """Keep the keys of a line's turns, where these tell any; what the line says is around."""
        if not any(turn.key() for turn in turns):
            return
        isolation = self.rows.isolation
        for turn in turns:
            isolation.look_within(number, turn.key())
            self.keys[id(turn)] = isolation.lines.get(number, 0)

    def _keep_apart(self, asked: AskingTurn) -> None:
        """Give the turn that is added next its own key."""
        key = self.keys.get(id(asked.turn))
        if key is not None:
            self.rows.isolation.lines[asked.line] = key

    def _lay_out(self) -> None:
        """Spread sessions whose times are their own."""
        stamped = any(asked.turn.timestamp is not None for asked in self.asked)
        sessions = all(asked.session is not None for asked in self.asked)
        if self.rows.time_ticks and sessions and not stamped:
            lay_out(self.rows, self.options)
        elif self.options.session_rate is not None:
            name = printable(str(self.path))
            raise SettingError("session_rate", f"{name} has no sessions, or tells when they start")


def _texts(reader: _Reader, texts: TextRows) -> Callable[[AskingTurn], Problem | None]:
    """Return what adds a turn of text."""
    histories = Histories(texts.tokenizer.encode, texts.template)
    texts.chats = True
    for session, (role, text) in reader.systems.items():
        histories.say(session, role, text)

    def add(asked: AskingTurn) -> Problem | None:
        turn, output = asked.turn, asked.turn.output_length
        if reader.incremental and output is None and asked.session is not None:
            detail = "an answer of unknown length: later turns of the session go on without it"
            reader.rows.note("unknown-answer", asked.line, detail)
        session = asked.session if reader.incremental else None
        try:
            prompt, answer = histories.ask(session, turn.role, _content(turn), output or 0)
        except ValueError as error:
            return "output_length", str(error)
        return texts.add(
            TextRequest(asked.line, prompt, answer, time=asked.ticks, session=asked.session)
        )

    return add


def _content(turn: Turn) -> str:
    """Return the text of a turn, and behind it a mark for each medium."""
    marks = (part_mark(medium) for medium in turn.media())
    return "".join([turn.whole_text() or "", *marks])


def _lengths(reader: _Reader) -> Callable[[AskingTurn], Problem | None]:
    """Return what adds a turn of which the lengths are known."""
    rows = LengthRows.into(reader.rows, FIELDS, incremental=reader.incremental)

    def add(asked: AskingTurn) -> Problem | None:
        lengths = asked.turn.input_length or 0, asked.turn.output_length or 0
        return rows.take(SizedRequest(*lengths, asked.ticks, asked.session), asked.line)

    return add


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer, and for a rate of sessions that have their times.
    """
    reader = _Reader(path, options)
    read_json_lines(path, reader.rows, _Line, reader.take)
    return reader.finish()


def _foreign(head: Head) -> bool:
    """Say whether a line of text has what AIPerf does not write: a date, an answer, other times."""
    record = head.record or {}
    others = {*TIME_FIELDS, *ANSWER_FIELDS, *OUTPUT_FIELDS} - {FIELDS.time, FIELDS.output}
    return not others.isdisjoint(record) or isinstance(record.get(FIELDS.time), str)


def matches(head: Head) -> bool:
    """Recognise a line that is a turn or has some."""
    if head.has("turns"):
        return head.mentions("text") or head.mentions("texts") or head.mentions("input_length")
    text = any(head.has(field) for field in ("text", "texts", "text_input")) and not _foreign(head)
    others = ("hash_ids", *PROMPT_FIELDS)
    return text or (head.has("input_length") and not any(head.has(field) for field in others))


AIPERF = TraceFormat(
    name="aiperf",
    title="AIPerf or GenAI-Perf JSON lines: turns as text or lengths, milliseconds or delays",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows", "tokenizer", "template", "session_rate", "seed"}),
)
