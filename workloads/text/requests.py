"""Requests with prompts of text, as rows of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from workloads.anomaly import Anomaly
from workloads.instants import TICKS_PER_SECOND, Ticks, TimeUnit, exact
from workloads.options import ReadOptions
from workloads.prefixes.prompts import TokenLists
from workloads.reading.fields import Problem, presence_problem, prompt_problem, time_problem
from workloads.reading.time_fields import UNIT_OF
from workloads.reading.times import DATE_TICKS_PER_SECOND, DateClock, number_in
from workloads.rows import Rows
from workloads.text.chat_template import Message, content_text
from workloads.text.naming import tokenizer_for
from workloads.text.templates import Template, template_for
from workloads.text.templates.notes import default_template_remark, template_notes
from workloads.text.tokenizer import Tokenizer, Tokens

Time = float | int | Decimal | str


@dataclass(frozen=True, slots=True)
class TextRequest:
    """A request with the tokens of its prompt and, where known, of its answer.

    `output_tokens` is used where `answer` is None. `time` is a number in the file's unit, or a
    date; `time_field` names it in errors.
    """

    line: int
    prompt: Tokens
    answer: Tokens | None = None
    output_tokens: int = 0
    time: Time | None = None
    time_field: str = "timestamp"
    session: str | int | None = None
    label: str | None = None


@dataclass(slots=True)
class TextRows:
    """Builder of the rows of a file of texts.

    `template` renders chats, and is mentioned in the notes once it was used.
    """

    rows: Rows
    prompts: TokenLists
    tokenizer: Tokenizer
    options: ReadOptions
    clock: DateClock | None = None  # None unless times are dates
    template: Template = field(init=False)
    chats: bool = field(default=False, init=False)
    numbers: bool = field(default=False, init=False)  # whether any time was a number

    def __post_init__(self) -> None:
        self.template = template_for(self.options.template or self.options.default_template)

    @classmethod
    def of(cls, options: ReadOptions) -> Self:
        """Return a builder with new rows; the options name the tokenizer and the chat template.

        Raises
        ------
        UsageError, DataError
            As `workloads.text.tokenizer_for` and `workloads.text.templates.template_for` do.
        """
        rows = Rows(TokenLists(), options.on_bad_line, options.ticks_per_second("s"))
        return cls.into(rows, options)

    @classmethod
    def into(cls, rows: Rows, options: ReadOptions) -> Self:
        """Return a builder that fills empty rows and sets their prompts; errors are those of `of`.

        For readers that find out from the first row whether a file has texts.
        """
        rows.prompts = prompts = TokenLists()
        return cls(rows, prompts, tokenizer_for(options.tokenizer), options)

    def chat(
        self,
        line: int,
        messages: Sequence[Message],
        tools: Sequence[Any] = (),
        answer: Message | None = None,
    ) -> tuple[Tokens, Tokens | None]:
        """Return the tokens of a prompt and of its answer, where that is known.

        Raises
        ------
        RenderError
            For messages that the template refuses.
        """
        self.chats = True
        prompt = self.tokenizer.encode(self.template.prompt(messages, tools))
        if answer is None:
            return prompt, None
        if self.template.opens_reasoning() and not has_reasoning(answer):
            detail = "answers whose reasoning the file does not hold: lengths are too short"
            self.rows.note("no-reasoning", line, detail)
        return prompt, self.tokenizer.encode(self.template.answer(messages, tools, answer))

    def add(self, request: TextRequest) -> Problem | None:
        """Add a request, or return what is wrong with it; a prompt of no token is left out."""
        rows, field = self.rows, request.time_field
        try:
            ticks = self.ticks(request.time, field)
        except ValueError as error:
            return field, str(error)
        problem = (
            presence_problem(field, ticks, first=not len(rows), timed=bool(rows.time_ticks))
            or time_problem(field, ticks, rows.ticks_per_second)
            or (prompt_problem("prompt", len(request.prompt)) if len(request.prompt) else None)
        )
        if problem is not None:
            return problem
        if not len(request.prompt):
            rows.note("empty-prompt", request.line, "a prompt of no token: left out")
            return None
        self.prompts.add(request.prompt, request.answer)
        answer = request.answer
        output = request.output_tokens if answer is None else len(answer)
        rows.add(request.line, len(request.prompt), output, ticks, request.session, request.label)
        return None

    def finish(self) -> Rows:
        """Return the rows, with notes on the tokenizer and the chat template."""
        rows, tokenizer_remark = self.rows, self.tokenizer.remark()
        if self.chats:
            rows.facts += template_notes(self.template, self.options)
            remark = default_template_remark(self.options)
            if remark is not None and len(rows):
                default = Anomaly("default-template", len(rows), rows.line[0], remark)
                rows.oddities[default.what] = default
        if self.tokenizer.stand_in and len(rows):
            stand_in = Anomaly("stand-in-tokenizer", len(rows), rows.line[0], tokenizer_remark)
            rows.oddities[stand_in.what] = stand_in
        else:
            rows.facts.append(tokenizer_remark)
        return rows

    def ticks(self, time: Time | None, field: str = "timestamp") -> Ticks | None:
        """Return a time in ticks; the times of a file must be all numbers or all dates.

        A number whose field name has a unit is converted to the file's unit, unless the options set
        one.

        Raises
        ------
        ValueError
            For an invalid date, or a date after numbers or the reverse.
        """
        number = number_in(time) if isinstance(time, str) else time
        if time is None or (number is not None and self.clock is None):
            self.numbers = self.numbers or number is not None
            return self._in_unit(number, UNIT_OF.get(field))
        if number is not None:
            raise ValueError("expected a date as on the lines before, found a number")
        return self._date_ticks(str(time))

    def _in_unit(self, number: Ticks | None, unit: TimeUnit | None) -> Ticks | None:
        if number is None or unit is None or self.options.time_unit is not None:
            return number
        self.rows.dated = True  # the unit is certain
        there, here = int(TICKS_PER_SECOND[unit]), int(self.rows.ticks_per_second)
        return Decimal(exact(number)) * here / there

    def _date_ticks(self, time: str) -> int:
        if self.clock is not None:
            return self.clock.ticks(time)
        if self.numbers:
            raise ValueError("expected a number as on the lines before, found text")
        if self.options.time_unit is not None:
            raise ValueError("expected a number, which a unit of time was given for")
        clock = DateClock()
        ticks = clock.ticks(time)
        self.clock, self.rows.ticks_per_second, self.rows.dated = clock, DATE_TICKS_PER_SECOND, True
        return ticks


def has_reasoning(answer: Message) -> bool:
    """Return whether an answer contains the reasoning that led to it."""
    return bool(answer.reasoning_text()) or "</think>" in content_text(answer)
