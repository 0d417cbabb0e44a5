from __future__ import annotations

import msgspec
import pytest

from workloads.text.chat_template import Message, answer_text, turns


def message(**fields):
    return msgspec.convert(fields, Message)


def test_turns_are_those_of_chatml():
    conversation = [
        message(role="system", content="Be brief."),
        message(role="user", content="Hi"),
        message(role="assistant", content="Hello!", reasoning_content="A greeting."),
        message(role="user", content=""),
    ]
    assert "".join(turns(conversation)) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\nHello!<|im_end|>\n"
        "<|im_start|>user\n<|im_end|>\n"
    )


def test_calls_and_results_of_tools_are_those_of_qwen():
    calls = [
        {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}},
        {"id": "2", "type": "function", "function": {"name": "find", "arguments": {"q": 1}}},
    ]
    conversation = [
        message(role="assistant", content=None, tool_calls=calls),
        message(role="tool", tool_call_id="1", content="one"),
        message(role="tool", tool_call_id="2", content=[{"type": "text", "text": "two"}]),
        message(role="assistant", content="Both."),
    ]
    assert list(turns(conversation)) == [
        '<|im_start|>assistant\n<tool_call>\n{"name": "find", "arguments": {"q": "x"}}\n'
        '</tool_call>\n<tool_call>\n{"name": "find", "arguments": {"q":1}}\n</tool_call>'
        "<|im_end|>\n",
        "<|im_start|>user\n<tool_response>\none\n</tool_response>\n"
        "<tool_response>\ntwo\n</tool_response><|im_end|>\n",
        "<|im_start|>assistant\nBoth.<|im_end|>\n",
    ]


def test_the_older_way_of_calling_functions_is_the_same():
    conversation = [
        message(role="assistant", content="So:", function_call={"name": "f", "arguments": "{}"}),
        message(role="function", name="f", content="1"),
    ]
    assert list(turns(conversation)) == [
        '<|im_start|>assistant\nSo:\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
        "<|im_end|>\n",
        "<|im_start|>user\n<tool_response>\n1\n</tool_response><|im_end|>\n",
    ]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_tools_stand_in_the_turn_of_the_system(role):
    tools = [{"type": "function", "function": {"name": "f"}}]
    listed = '<tools>\n{"type":"function","function":{"name":"f"}}\n</tools><|im_end|>\n'
    ask = message(role="user", content="Go")
    asked = "<|im_start|>user\nGo<|im_end|>\n"
    assert list(turns([ask], tools)) == [f"<|im_start|>system\n{listed}", asked]
    with_system = [message(role=role, content="Be brief."), ask]
    assert list(turns(with_system, tools)) == [
        f"<|im_start|>system\nBe brief.\n\n{listed}",
        asked,
    ]


def test_parts_that_are_no_text_differ_where_they_do():
    def shown(url):
        parts = [{"type": "text", "text": "See: "}, {"type": "image_url", "image_url": url}]
        return "".join(turns([message(role="user", content=parts)]))

    assert shown("a") == shown("a")
    assert shown("a") != shown("b")
    assert shown("a").startswith("<|im_start|>user\nSee: <|part_")
    assert "image" not in shown("a")


def test_what_a_model_wrote_includes_its_reasoning():
    answer = message(role="assistant", content="4", reasoning_content="2 + 2")
    assert answer_text(answer) == "<think>\n2 + 2\n</think>\n\n4"
    assert answer_text(message(role="assistant", content="4")) == "4"
