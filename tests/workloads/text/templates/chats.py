"""Messages that templates are tried on."""

from __future__ import annotations

from typing import Any

import msgspec

from workloads.text.chat_template import Message

SYSTEM = {"role": "system", "content": "Be brief."}
HI = {"role": "user", "content": "Hi"}
HELLO = {"role": "assistant", "content": "Hello!", "reasoning_content": "A greeting."}
MORE = {"role": "user", "content": "And?"}
FIND = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
CALLS = {
    "role": "assistant",
    "content": "Let me look.",
    "reasoning_content": "I need it.",
    "tool_calls": [
        {"type": "function", "function": {"name": "find", "arguments": {"q": "x", "n": [1]}}},
        {"type": "function", "function": {"name": "find", "arguments": {}}},
    ],
}
FOUND = {"role": "tool", "content": "one"}
FOUND_TOO = {"role": "tool", "content": "two"}
DONE = {"role": "assistant", "content": "Both."}

CHATS: dict[str, list[dict[str, Any]]] = {
    "a question": [HI],
    "with a system": [SYSTEM, HI],
    "a chat": [SYSTEM, HI, HELLO, MORE],
    "a loop": [HI, CALLS, FOUND, FOUND_TOO],
    "a loop, empty thoughts": [HI, {**CALLS, "reasoning_content": "", "content": ""}, FOUND],
    "after a loop": [HI, CALLS, FOUND, FOUND_TOO, DONE, MORE],
    "thoughts in the text": [HI, {"role": "assistant", "content": "<think>\nI.\n</think>\n\nYes"}],
}


def messages(chat: list[dict[str, Any]]) -> list[Message]:
    return msgspec.convert(chat, list[Message])
