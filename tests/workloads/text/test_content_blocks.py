from __future__ import annotations

from workloads.text.chat_template import Message
from workloads.text.content_blocks import unfolded
from workloads.text.templates import template_for

USE = {"type": "tool_use", "id": "1", "name": "find", "input": {"q": "x"}}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "one"}]}
TEXT = {"type": "text", "text": "Look:"}
THOUGHT = {"type": "thinking", "thinking": "I need it.", "signature": "s"}


def test_thoughts_and_calls_leave_the_content_of_an_answer():
    (message,) = unfolded(Message("assistant", [THOUGHT, TEXT, USE]))
    assert message.content == [TEXT]
    assert message.reasoning_text() == "I need it."
    assert [(call.name, call.arguments) for call in message.calls()] == [("find", {"q": "x"})]


def test_results_of_tools_are_messages_of_their_own():
    result, rest = unfolded(Message("user", [RESULT, TEXT]))
    assert (result.role, result.content) == ("tool", RESULT["content"])
    assert (rest.role, rest.content) == ("user", [TEXT])
    (alone,) = unfolded(Message("user", [RESULT | {"content": None}]))
    assert (alone.role, alone.content) == ("tool", None)


def test_other_messages_stay_as_they_are():
    for message in (Message("user", "Hi"), Message("user", [TEXT]), Message("user")):
        assert unfolded(message) == [message]


def test_blocks_are_rendered_as_the_messages_that_they_mean():
    blocks = [
        Message("user", "Hi"),
        Message("assistant", [THOUGHT, USE]),
        Message("user", [RESULT]),
    ]
    template = template_for("qwen3.5")
    prompt = template.prompt([plain for message in blocks for plain in unfolded(message)], ())
    assert prompt == (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\nI need it.\n</think>\n\n"
        "<tool_call>\n<function=find>\n<parameter=q>\nx\n</parameter>\n</function>\n</tool_call>"
        "<|im_end|>\n<|im_start|>user\n<tool_response>\none\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n<think>\n"
    )
