"""Prompts and responses as text, in JSON lines or CSV.

A line has `prompt` and, where the answer is known, `response`, `completion` or `output`. What
else it may tell is as in the format `chat`: a session by `session_id`, `conversation_id`,
`chat_id` or `thread_id`, and unknown otherwise (`user` names none); a time in `timestamp`,
`created_at` or `created`, seconds where nothing else is said, or a date; a label.

- Text is taken as it stands: no chat template is put around it.
- A prompt of no token is left out and noted. A missing response counts 0 tokens.
- In CSV an empty cell is a missing one; quoted cells may hold line breaks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_records import Record, read_csv_records
from workloads.reading.fields import Problem
from workloads.reading.json_lines import explain, read_json_lines
from workloads.reading.reader import read_start
from workloads.reading.table_columns import columns_of
from workloads.rows import Rows
from workloads.text.chat_log import LABEL_FIELDS, SESSION_FIELDS, TIME_FIELDS, named
from workloads.text.requests import TextRequest, TextRows

ANSWER_FIELDS = ("response", "completion", "output")

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Line(msgspec.Struct, gc=False):
    prompt: str
    response: str | None = None
    completion: str | None = None
    output: str | None = None
    timestamp: float | str | None = None
    created_at: float | str | None = None
    created: float | str | None = None
    session_id: Name | int | None = None
    conversation_id: Name | int | None = None
    chat_id: Name | int | None = None
    thread_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; one that does not begin as JSON is CSV.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    texts = TextRows.of(options)
    encode = texts.tokenizer.encode

    def take(line: _Line, number: int) -> Problem | None:
        answer = named(line, ANSWER_FIELDS)[1]
        time_field, time = named(line, TIME_FIELDS)
        label = named(line, LABEL_FIELDS)[1]
        return texts.add(
            TextRequest(
                line=number,
                prompt=encode(line.prompt),
                answer=None if answer is None else encode(answer),
                time=time,
                time_field=time_field,
                session=named(line, SESSION_FIELDS)[1],
                label=None if label is None else str(label),
            )
        )

    def take_record(record: Record, number: int) -> Problem | None:
        cells = {name: cell for name, cell in record.items() if cell or name == "prompt"}
        try:
            return take(msgspec.convert(cells, _Line), number)
        except msgspec.ValidationError as error:
            return explain(str(error))

    if read_start(path, 64).lstrip()[:1] == b"{":
        read_json_lines(path, texts.rows, _Line, take)
    else:
        read_csv_records(path, texts.rows, ("prompt",), take_record, columns_of(_Line))
    return texts.finish()


def matches(head: Head) -> bool:
    """Recognise a text that is called a prompt."""
    if head.record is not None:
        return isinstance(head.record.get("prompt"), str)
    return head.has("prompt") or head.has_columns("prompt")


PROMPTS = TraceFormat(
    name="prompts",
    title="prompts and responses as text, JSON lines or CSV, seconds or dates",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "tokenizer"}),
)
