"""Prompts and responses as text, in JSON lines or CSV.

A line has `prompt`, `text` or `input` and, where the answer is known, `response`, `completion`,
`output`, `answer` or `generated_text`, or only the answer's length: `output_tokens` (custom data of
vLLM's benchmark), `output_len`, `expected_output_len` and the like. Times have the names in
`workloads.reading.time_fields`; they are seconds by default, or dates. Sessions and labels are as
in the format `chat`.

- Text is used as it is, without a chat template. Where a prompt is a list of messages, it is
  rendered with the template of `workloads.text`.
- In JSON a prompt may be token ids, also as `prompt_token_ids`, on all lines of a file or on none.
  The text of an answer is then not used, only its length where it is given.
- Lengths are counted in tokens of the text. A given length that differs by over a tenth is noted;
  that of an answer is used where its text is missing or empty.
- A prompt of no token is left out and noted. A missing response counts as 0 tokens.
- In CSV an empty cell is a missing value; quoted cells may contain line breaks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_records import Record, read_csv_records
from workloads.reading.fields import Problem
from workloads.reading.json_lines import among, explain, read_json_lines
from workloads.reading.reader import read_start
from workloads.reading.table_columns import columns_of
from workloads.reading.time_fields import TIME_FIELDS
from workloads.rows import Rows
from workloads.text.prompt_line import (
    ANSWER_FIELDS,
    IDS_FIELD,
    LENGTH_FIELDS,
    OUTPUT_FIELDS,
    PROMPT_FIELDS,
    PromptLine,
    add_prompt,
)
from workloads.text.requests import TextRows

COUNTS = frozenset((*OUTPUT_FIELDS, *LENGTH_FIELDS))
INSTRUCTION = "instruction"  # where this field exists, `input` is only a part of the prompt


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file, as CSV unless it begins like JSON.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    texts = TextRows.of(options)

    def take(line: PromptLine, number: int) -> Problem | None:
        return add_prompt(texts, line, number)

    decode = msgspec.json.Decoder(PromptLine).decode

    def take_record(record: Record, number: int) -> Problem | None:
        cells = {name: _cell(name, cell) for name, cell in record.items() if _counts(name, cell)}
        try:
            return among(take(decode(msgspec.json.encode(cells)), number), record)
        except msgspec.ValidationError as error:
            return explain(str(error))

    if read_start(path, 64).lstrip()[:1] == b"{":
        read_json_lines(path, texts.rows, PromptLine, take)
    else:
        read_csv_records(path, texts.rows, (), take_record, columns_of(PromptLine))
    return texts.finish()


def _counts(name: str, cell: str) -> bool:
    return (bool(cell) and name != IDS_FIELD) or name == PROMPT_FIELDS[0]


def _cell(name: str, cell: str) -> str | int:
    """Return the value of a cell: a whole number in columns of counts."""
    number = name in COUNTS and cell.isascii() and cell.isdecimal() and len(cell) < 20
    return int(cell) if number else cell


def matches(head: Head) -> bool:
    """Return whether there is a `prompt`, or `text` or `input` beside a time or an answer."""
    if head.record is None:
        text = head.has_columns("text") and any(head.has_columns(name) for name in TIME_FIELDS)
        return text or head.has("prompt") or head.has(IDS_FIELD) or head.has_columns("prompt")
    if isinstance(head.record.get("prompt"), str) or _has_ids(head.record):
        return True
    has_traffic = any(head.has(name) for name in (*TIME_FIELDS, *ANSWER_FIELDS, *OUTPUT_FIELDS))
    has_prompt = any(isinstance(head.record.get(name), str | list) for name in PROMPT_FIELDS)
    return has_prompt and has_traffic and not head.has(INSTRUCTION)


def _has_ids(record: dict[str, Any]) -> bool:
    prompts = (record.get(name) for name in (PROMPT_FIELDS[0], IDS_FIELD))
    return any(isinstance(ids, list) and ids and isinstance(ids[0], int) for ids in prompts)


PROMPTS = TraceFormat(
    name="prompts",
    title="prompts and responses as text, JSON lines or CSV, seconds or dates",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "tokenizer", "template"}),
)
