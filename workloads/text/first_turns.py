"""First turns of conversations, read from a file of the user's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from workloads.reading.csv_records import Record, read_csv_records
from workloads.reading.fields import Problem
from workloads.reading.json_lines import read_json_lines
from workloads.reading.reader import read_lines
from workloads.rows import Rows

Turns = list[tuple[int, str]]  # the line, the text


class _Line(msgspec.Struct, gc=False):
    turns: list[str] | None = None
    prompt: str | None = None
    text: str | None = None


def _read_text(path: Path, rows: Rows) -> Turns:
    """Read one turn from each line."""
    return [(number, line.decode(errors="replace")) for number, line in read_lines(path)]


def _read_json(path: Path, rows: Rows) -> Turns:
    """Read the first of `turns` (as in MT-bench), `prompt` or `text` of each line."""
    turns: Turns = []

    def take(line: _Line, number: int) -> Problem | None:
        text = line.turns[0] if line.turns else line.prompt or line.text
        if not text:
            return "turns", "expected a turn here, or in 'prompt' or 'text', found none"
        turns.append((number, text))
        return None

    read_json_lines(path, rows, _Line, take)
    return turns


def _read_csv(path: Path, rows: Rows) -> Turns:
    """Read `text` of each record, or the ShareGPT table of the published experiments.

    The latter has a row for each message (`url`, `role`, `message_index`, `plain_text`), of which
    the user's first message in each conversation is read.
    """
    plain: Turns = []
    first: dict[str, tuple[int, int, str]] = {}

    def take(record: Record, number: int) -> Problem | None:
        if "plain_text" not in record:
            if "text" not in record:
                return "text", "expected this column, or 'plain_text', found neither"
            plain.append((number, record["text"]))
        elif record.get("role") == "user":
            place = record.get("message_index", "")
            if not place.isdigit():
                return "message_index", "expected a whole number"
            here = (int(place[:18]), number, record["plain_text"])
            known = first.setdefault(record.get("url", ""), here)
            if here[0] < known[0]:
                first[record["url"]] = here
        return None

    used = ("text", "plain_text", "role", "message_index", "url")
    read_csv_records(path, rows, (), take, used)
    return plain + [(line, text) for _, line, text in first.values()]


READERS: dict[str, Callable[[Path, Rows], Turns]] = {
    "turns.txt": _read_text,
    "turns.jsonl": _read_json,
    "turns.csv": _read_csv,
}


def read_turns(path: Path, rows: Rows) -> Turns:
    """Read a file with one of the names in `READERS`; turns without text are left out.

    Raises
    ------
    DataError
        For a file that cannot be read, and its first bad line, unless bad lines are skipped.
    """
    return [(line, text) for line, text in READERS[path.name](path, rows) if text.strip()]
