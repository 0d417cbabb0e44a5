"""Agent traces of LMCache: JSON lines of text with microseconds since 1970.

Source: LMCache/lmcache-agent-trace, one file a session: `timestamp`, `input`, `output`,
`session_id`. Each `input` is the whole context of a call, as text or as messages. Lines are not in
the order of time, so they are sorted. An empty `output` is an answer of no token. Other rules are
those of the format `prompts`. For times in another unit, use `--time-unit`.
"""

from __future__ import annotations

from pathlib import Path

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.text.prompt_line import PromptLine, add_prompt
from workloads.text.requests import TextRows

EPOCH_MICROSECONDS = 1.4e15, 2.3e15  # the years 2014 to 2042


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    texts = TextRows.of(options)
    texts.rows.ticks_per_second = options.ticks_per_second("us")

    def take(line: PromptLine, number: int) -> Problem | None:
        return add_prompt(texts, line, number)

    read_json_lines(path, texts.rows, PromptLine, take)
    return texts.finish()


def matches(head: Head) -> bool:
    """Return whether there are an input and an output, and a time in microseconds since 1970."""
    if head.record is None:
        return head.has("timestamp", "input", "output", "session_id")
    time = head.record.get("timestamp")
    least, most = EPOCH_MICROSECONDS
    dated = isinstance(time, int | float) and least <= time <= most
    return dated and head.has("input", "output")


LMCACHE = TraceFormat(
    name="lmcache",
    title="LMCache agent traces, JSON lines: microseconds, input and output as text, sessions",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "tokenizer", "template"}),
)
