"""Decision whether rows of `messages` are requests or whole conversations.

A row that ends with the assistant's answer may be a request with its whole context, or a
conversation in which each answer is a request. Rows are read as conversations where

- one has two answers or more and ends with one;
- none has a response, token counts or other data of a server beside its messages;
- no two have the same session, and hardly any continues another, as the requests of a chat do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from workloads.options import RowsAre

FEW = 0.1  # share of the rows that may continue another by chance

_ANSWER = b'"assistant"'
_NOTHING = msgspec.Raw(b"null")


class _Part(msgspec.Struct, gc=False):
    role: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING


class Glance(msgspec.Struct, gc=False):
    """A row of which only the shape is decoded, to tell requests from conversations."""

    messages: list[_Part] | str | None = None
    request: msgspec.Raw = _NOTHING
    body: msgspec.Raw = _NOTHING
    response: msgspec.Raw = _NOTHING
    choices: msgspec.Raw = _NOTHING
    usage: msgspec.Raw = _NOTHING
    session_id: msgspec.Raw = _NOTHING
    conversation_id: msgspec.Raw = _NOTHING
    chat_id: msgspec.Raw = _NOTHING
    thread_id: msgspec.Raw = _NOTHING

    def served(self) -> bool:
        """Return whether the row has data of a server beside the messages."""
        left = (self.request, self.body, self.response, self.choices, self.usage)
        return any(bytes(raw) != b"null" for raw in left)

    def session(self) -> bytes | None:
        """Return the session, None if the row has none."""
        names = (self.session_id, self.conversation_id, self.chat_id, self.thread_id)
        return next((bytes(name) for name in names if bytes(name) != b"null"), None)

    def parts(self) -> list[_Part]:
        """Return the messages; JSON in text is decoded."""
        if not isinstance(self.messages, str):
            return self.messages or []
        try:
            return msgspec.json.decode(self.messages, type=list[_Part])
        except (msgspec.DecodeError, RecursionError):
            return []


@dataclass(slots=True)
class RowSurvey:
    """Counts over a file's rows, which decide whether rows are requests or conversations."""

    rows: int = 0
    conversations: int = 0
    several: int = 0
    served: int = 0
    shared: int = 0
    going_on: int = 0
    sessions: set[bytes] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)

    def see(self, row: Glance) -> None:
        """Count a row."""
        parts = row.parts()
        if not parts:
            return
        self.rows += 1
        self.served += row.served()
        self._see_session(row.session())
        roles = [bytes(part.role) for part in parts]
        several = roles.count(_ANSWER) > 1
        self.several += several
        self.conversations += several and roles[-1] == _ANSWER
        self._see_beginning(parts)

    def are_conversations(self) -> bool:
        """Return whether rows are whole conversations."""
        alone = not (self.served or self.shared) and self.going_on <= FEW * self.rows
        return bool(self.conversations) and alone

    def rows_are(self) -> RowsAre:
        """Return how to read the rows, where the options do not say."""
        return "conversation" if self.are_conversations() else "cumulative"

    def _see_session(self, session: bytes | None) -> None:
        if session is not None:
            self.shared += session in self.sessions
            self.sessions.add(session)

    def _see_beginning(self, messages: list[_Part]) -> None:
        """Count a row that continues all messages of an earlier one."""
        chain, begins = 0, False
        for part in messages[:-1]:
            chain = hash((chain, bytes(part.role), bytes(part.content)))
            begins = begins or chain in self.whole
        self.going_on += begins
        last = messages[-1]
        self.whole.add(hash((chain, bytes(last.role), bytes(last.content))))
