"""Messages in the formats of any chat data set: OpenAI's, ShareGPT's, those of agents."""

from __future__ import annotations

from typing import Any

import msgspec

from workloads.reading.fields import MISSING, Problem
from workloads.reading.times import UNWRITTEN, Written
from workloads.text.chat_template import Function, Message, ToolCall
from workloads.text.content_blocks import unfolded

Time = float | int | str

ROLES = {
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(
        ("assistant", "gpt", "chatgpt", "bing", "bard", "claude", "ai", "bot", "model"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(
        ("tool", "function", "observation", "ipython", "function_response", "environment"), "tool"
    ),
    "function_call": "assistant",
}
"""Roles in data sets and the standard role of each; others are read as the user's."""


class AnyMessage(msgspec.Struct, gc=False, rename={"sender": "from"}):
    """A message under any common field names; other fields do not affect the prompt."""

    role: str | None = None
    sender: str | None = None
    content: str | list[Any] | None = None
    value: str | list[Any] | None = None
    text: str | None = None
    system_prompt: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    name: Any = None
    tool_call_id: Any = None
    timestamp: Written = UNWRITTEN

    def problem(self) -> Problem | None:
        """Return which field is missing, None if none is."""
        return ("role", MISSING) if self.named() is None else None

    def named(self) -> str | None:
        """Return the role as written in the file."""
        return self.sender if self.role is None else self.role

    def knows_role(self) -> bool:
        """Return whether the role is one of `ROLES`."""
        return (self.named() or "").lower() in ROLES

    def messages(self) -> list[Message]:
        """Return the message in OpenAI's form, as several messages where it has blocks of tools."""
        return unfolded(self._message())

    def _message(self) -> Message:
        named = (self.named() or "").lower()
        calls = self.tool_calls
        content = self._content()
        if named == "function_call" and isinstance(content, str):
            read = _calls(content)
            calls, content = (read, None) if read else (calls, content)
        return Message(
            role=ROLES.get(named, "user"),
            content=content,
            reasoning_content=self.reasoning_content,
            tool_calls=calls,
            function_call=self.function_call,
            reasoning=self.reasoning,
            name=self.name,
            tool_call_id=self.tool_call_id,
        )

    def _content(self) -> str | list[Any] | None:
        known = (self.content, self.value, self.text, self.system_prompt)
        return next((content for content in known if content is not None), None)


def _calls(text: str) -> list[ToolCall]:
    """Return the tool calls in a JSON text, none where it has none."""
    try:
        return msgspec.json.decode(text, type=list[ToolCall])
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        call = msgspec.json.decode(text, type=ToolCall)
    except (msgspec.DecodeError, RecursionError):
        return []
    return [call] if call.called() is not None else []
