"""Chat data sets of whole conversations, such as ShareGPT, WildChat, LMSYS-Chat and agent runs.

Source: the ShareGPT files that serving benchmarks read (`conversations` of `from` and `value`, or
of `role` and `content`); WildChat and LMSYS-Chat-1M (`conversation`); trajectories of SWE-agent and
others (`history` or `trajectory`); lines that are lists of messages. A conversation may be a line,
an entry of one JSON array, a row of Parquet, a named member of an object, or the whole file.

- Each answer is a request whose prompt is everything before it, see `workloads.text.conversations`;
  messages that make no request are counted. A conversation is a session.
- Roles are those in `workloads.text.any_message`; an unknown one is read as the user's, and noted.
- An array of rows with `messages` is read like the lines of the format `chat`.
- Times are those of the messages, or of the row where it holds one answer; else there are none.
- A label is `label` or `type`, else the name of the model.
- Where records are not lines, a line number in a message is the number of the record.
"""

from __future__ import annotations

from typing import Any

from workloads.formats.chat import NOT_NEEDED, OPTIONS, read
from workloads.formats.format import Head, TraceFormat
from workloads.reading.json_records import MESSAGE_FIELDS, holds_conversations
from workloads.reading.parquet import MAGIC
from workloads.text.chat_log import CONVERSATIONS

TRANSCRIPT = (
    "type",
    "sessionId",
    "parentUuid",
)  # fields of Claude Code's lines, which an array may hold
_SAYS = ("content", "value", "text")


def matches(head: Head) -> bool:
    """Return whether there are messages in a field of conversations, a list or an array's rows."""
    if head.text == MAGIC:
        return any(field in head.columns for field in ("messages", *CONVERSATIONS))
    as_text = (head.record or {}).get("messages")
    if isinstance(as_text, str) and as_text[:1] == "[" and '"role"' in as_text:
        return True
    if not (_any(head, MESSAGE_FIELDS) and _any(head, _SAYS)):
        return False
    if head.text[:1] == b"[":
        return not head.mentions(*TRANSCRIPT)
    named = any(_holds_messages(head, field) for field in CONVERSATIONS)
    return named or holds_conversations(head.text)


def _any(head: Head, names: tuple[str, ...]) -> bool:
    return any(head.mentions(name) for name in names)


def _holds_messages(head: Head, field: str) -> bool:
    if head.record is None:
        return head.has(field)
    messages: Any = head.record.get(field)
    if not isinstance(messages, list):
        return False
    return not messages or isinstance(messages[0], dict)


CONVERSATIONS_FORMAT = TraceFormat(
    name="conversations",
    title="chat data sets: ShareGPT, WildChat, LMSYS-Chat, agents; each answer is a request",
    read=read,
    matches=matches,
    options=OPTIONS,
    not_needed={
        **NOT_NEEDED,
        "conversation_hash": "conversations are told apart by their line",
        "turn": "turns are counted here",
    },
)
