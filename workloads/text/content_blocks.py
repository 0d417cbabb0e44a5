"""Messages with content blocks, as in Anthropic's interface: thoughts, tool calls and results.

As in servers, they are converted to OpenAI's form before they are rendered.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workloads.text.chat_template import Function, Message, ToolCall

_THOUGHTS = {"thinking": "thinking", "redacted_thinking": "data"}  # by type: the field of the text


def unfolded(message: Message) -> list[Message]:
    """Return a message without such blocks: tool results first, then the rest, if any."""
    content = message.content
    if not isinstance(content, list) or not any(map(_is_block, content)):
        return [message]
    results = [_result(part) for part in content if _type(part) == "tool_result"]
    calls = [_call(part) for part in content if _type(part) == "tool_use"]
    thoughts = [_thought(part) for part in content if _type(part) in _THOUGHTS]
    rest: list[Any] = [part for part in content if not _is_block(part)]
    if results and not (rest or calls or thoughts):
        return results
    reasoning = "\n".join(thoughts) if thoughts else message.reasoning_content
    remainder = msgspec.structs.replace(
        message,
        content=rest or None,
        reasoning_content=reasoning,
        tool_calls=[*(message.tool_calls or []), *calls] or None,
    )
    return [*results, remainder]


def _type(part: Any) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else None


def _is_block(part: Any) -> bool:
    return _type(part) in {"tool_result", "tool_use", *_THOUGHTS}


def _result(part: dict[str, Any]) -> Message:
    content = part.get("content")
    if not isinstance(content, str | list):
        content = None if content is None else msgspec.json.encode(content).decode()
    return Message("tool", content, tool_call_id=part.get("tool_use_id"))


def _call(part: dict[str, Any]) -> ToolCall:
    return ToolCall(Function(str(part.get("name") or ""), part.get("input")))


def _thought(part: dict[str, Any]) -> str:
    return str(part.get(_THOUGHTS[_type(part) or ""]) or "")
