"""Qwen-Bailian JSON lines: times in seconds, chats with parents, ids of 16-token blocks.

Source: the traces of Alibaba's Bailian service (alibaba-edu/qwen-bailian-usagetraces-anon),
released with Wang et al., "KVCache Cache in the Wild", USENIX ATC 2025. Each row is the whole
context of one turn of a chat; its ids are salted hashes of blocks, numbered in the order in which
they first occur.

- A turn names its parent, the turn before it; -1 means none. A session is a chain of parents,
  named by its first turn. A parent that is not in the file is the first turn of its session.
- The label is the type (text, search, image, file).
- A turn need not begin with its parent's prompt (a chat that was edited or cut): such turns are
  counted.
- A `chat_id` that occurs twice, or is its own ancestor, is counted and kept.
"""

from __future__ import annotations

from array import array
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem, output_problem, prompt_problem, time_problem
from workloads.reading.id_blocks import IdBlocks
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows

BLOCK_TOKENS = 16
NO_PARENT = -1

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Line(msgspec.Struct, gc=False):
    chat_id: int
    parent_chat_id: int
    timestamp: Decimal
    input_length: int
    output_length: int
    hash_ids: list[int | str]
    type: Name | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; blocks have 16 tokens by default."""
    blocks = IdBlocks(options.block or BLOCK_TOKENS)
    rows = Rows(blocks.keys, options.on_bad_line, options.ticks_per_second("s"))
    chats = _Chats(rows, blocks)

    def take(line: _Line, number: int) -> Problem | None:
        problem = (
            prompt_problem("input_length", line.input_length)
            or output_problem("output_length", line.output_length)
            or time_problem("timestamp", line.timestamp, rows.ticks_per_second)
            or blocks.add("hash_ids", line.hash_ids, line.input_length)
        )
        if problem is None:
            rows.add(number, line.input_length, line.output_length, line.timestamp, None, line.type)
            chats.add(line, number)
        return problem

    read_json_lines(path, rows, _Line, take)
    chats.name_sessions()
    return blocks.give_to(rows)


class _Chats:
    """The chats of all rows read so far, and the parent of each chat."""

    def __init__(self, rows: Rows, blocks: IdBlocks) -> None:
        self._rows = rows
        self._blocks = blocks
        self._chat: list[int] = []  # chat id by row
        self._row: dict[int, int] = {}  # the first row of each chat
        self._parent: dict[int, int] = {}

    def add(self, line: _Line, number: int) -> None:
        """Register the chat of the row that was just added, and its parent."""
        row = len(self._chat)
        self._chat.append(line.chat_id)
        if line.chat_id in self._row:
            self._rows.note("chat-twice", number, "an earlier line has this chat_id too")
            return
        self._row[line.chat_id] = row
        if line.parent_chat_id == NO_PARENT:
            return
        self._parent[line.chat_id] = line.parent_chat_id
        if not self._contains_parent(row, line.parent_chat_id):
            self._rows.note(
                "parent-not-repeated", number, "a turn whose prompt leaves its parent's"
            )

    def _contains_parent(self, row: int, parent: int) -> bool:
        """Return whether a row begins with the whole blocks of its parent; True if unknown."""
        above = self._row.get(parent)
        if above is None or above == row:
            return True
        keys, ends = self._blocks.keys.keys, self._blocks.keys.ends
        start, own = (ends[above - 1] if above else 0), ends[row - 1]
        whole = min(self._rows.prompt_tokens[above] // self._blocks.block, ends[above] - start)
        return keys[own : own + whole] == keys[start : start + whole]

    def name_sessions(self) -> None:
        """Set the session of each row to the first chat in its chain of parents."""
        root: dict[int, int] = {}
        sessions = self._rows.sessions
        column = array("i")
        for row, chat in enumerate(self._chat):
            if self._parent.get(chat, chat) not in self._row:
                line = self._rows.line[row]
                self._rows.note("unknown-parent", line, "the parent's chat is not in the file")
            path: dict[int, None] = {}
            top = chat
            while top not in root and top not in path and top in self._parent:
                path[top] = None
                top = self._parent[top]
            if top in path:
                line = self._rows.line[row]
                self._rows.note("parent-cycle", line, "a chat is its own ancestor")
            root.update(dict.fromkeys([*path, top], root.get(top, top)))
            column.append(sessions.setdefault(root[chat], len(sessions)))
        self._rows.session = column


def matches(head: Head) -> bool:
    """Return whether lines have a chat, its parent and block ids."""
    return head.has("chat_id", "parent_chat_id", "hash_ids")


BAILIAN = TraceFormat(
    name="bailian",
    title="Qwen-Bailian JSON lines: seconds, chats with parents, ids of 16-token blocks",
    read=read,
    matches=matches,
    options=frozenset({"block", "time_unit"}),
    not_needed={"turn": "the chain of parents tells it"},
)
