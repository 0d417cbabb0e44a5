"""Chat data sets: whole conversations, as ShareGPT, WildChat, LMSYS-Chat and agents have them.

Source: the ShareGPT files that serving benchmarks read (`conversations` of `from` and `value`, or
of `role` and `content`); WildChat and LMSYS-Chat-1M (`conversation`); trajectories of SWE-agent
and others (`history` or `trajectory`); lines that are lists of messages. Each stands on a line of
its own, in one JSON array, in a row of Parquet, in an object by its name, or is the file.

- Each answer is a request whose prompt is all that was said before it, see
  `workloads.text.conversations`; what is no request is counted. A conversation is a session.
- Roles: `workloads.text.any_message` says which; an unknown one is taken as the user's, and noted.
- An array of rows with `messages` is read as the format `chat` reads lines.
- Times are those of the messages, or of the row where it holds one answer; else there are none.
- A label is `label` or `type`, else the name of the model.
- For lines in messages, read the number of the record where records do not stand on lines.
"""

from __future__ import annotations

from typing import Any

from workloads.formats.chat import NOT_NEEDED, OPTIONS, read
from workloads.formats.format import Head, TraceFormat
from workloads.reading.json_records import MESSAGE_FIELDS, holds_conversations
from workloads.reading.parquet import MAGIC
from workloads.text.chat_log import CONVERSATIONS

TRANSCRIPT = ("type", "sessionId", "parentUuid")  # of an array of Claude Code's lines
_SAYS = ("content", "value", "text")


def matches(head: Head) -> bool:
    """Recognise messages below a field of conversations, in a list, or in rows of an array."""
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
