"""Answers and prompts, under every name that instrumentations give them."""

from __future__ import annotations

import json

import pytest

from workloads.formats.parts.otel_messages import answer_message, prompt_messages, with_events
from workloads.formats.parts.otel_spans import Event, SpanError
from workloads.text.chat_template import answer_text, turns

ASKED = [{"role": "user", "content": "Which river?"}]
ANSWERED = [{"role": "assistant", "content": "The Vltava."}]
CALL = {"name": "find", "arguments": '{"q": 1}'}


def chat_text(attributes):
    messages = prompt_messages(attributes)
    return None if messages is None else "".join(turns(messages))


ASKED_TEXT = chat_text({"gen_ai.input.messages": ASKED})


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.output.messages": json.dumps(ANSWERED)},
        {"gen_ai.output.messages": ANSWERED},
        {
            "gen_ai.output.messages": [
                {"role": "assistant", "parts": [{"type": "text", "content": "The Vltava."}]}
            ]
        },
        {"gen_ai.output.text": "The Vltava."},
        {"gen_ai.completion": "The Vltava."},
        {"gen_ai.completion": json.dumps(ANSWERED)},
        {"gen_ai.output": "The Vltava."},
        {"gen_ai.content.completion": "The Vltava."},
        {"gen_ai.completion.0.content": "The Vltava.", "gen_ai.completion.0.role": "assistant"},
        {"gen_ai.completion.1.content": "Or?", "gen_ai.completion.0.content": "The Vltava."},
        {"llm.output_messages.0.message.content": "The Vltava."},
        {
            "llm.output_messages.0.message.contents.0.message_content.text": "The ",
            "llm.output_messages.0.message.contents.1.message_content.text": "Vltava.",
        },
        {"ai.response.text": "The Vltava."},
    ],
)
def test_an_answer_by_any_name_is_the_answer(attributes):
    answer = answer_message(attributes)
    assert answer is not None
    assert answer_text(answer) == "The Vltava."


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.input.text": "Which river?"},
        {"gen_ai.prompt": "Which river?"},
        {"gen_ai.content.prompt": "Which river?"},
        {"gen_ai.prompt": json.dumps(ASKED)},
        {"gen_ai.prompt.0.content": "Which river?", "gen_ai.prompt.0.role": "user"},
        {"gen_ai.prompt.0.content": '[{"type": "text", "text": "Which river?"}]'},
        {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Which river?",
        },
        {"ai.prompt.messages": json.dumps(ASKED)},
    ],
)
def test_a_prompt_by_any_name_is_the_prompt(attributes):
    assert chat_text(attributes) == ASKED_TEXT


@pytest.mark.parametrize(
    "events",
    [
        [
            Event("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(ASKED)}),
            Event("gen_ai.content.completion", {"gen_ai.completion": json.dumps(ANSWERED)}),
        ],
        [
            Event("gen_ai.user.message", {"content": "Which river?"}),
            Event("gen_ai.choice", {"index": 0, "message": '{"content": "The Vltava."}'}),
        ],
        [
            Event("gen_ai.user.message", {"gen_ai.event.content": json.dumps(ASKED[0])}),
            Event(
                "gen_ai.choice",
                {"gen_ai.event.content": json.dumps({"index": 0, "message": ANSWERED[0]})},
            ),
        ],
        [
            Event(
                "gen_ai.client.inference.operation.details",
                {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED},
            )
        ],
    ],
)
def test_events_tell_what_attributes_do_not(events):
    attributes = with_events({"gen_ai.request.model": "m"}, iter(events))
    assert chat_text(attributes) == ASKED_TEXT
    answer = answer_message(attributes)
    assert answer is not None
    assert answer_text(answer) == "The Vltava."


def test_attributes_count_where_events_tell_the_same():
    event = Event("gen_ai.user.message", {"content": "Another question"})
    attributes = with_events({"gen_ai.prompt": "Which river?"}, iter([event]))
    assert chat_text(attributes) == ASKED_TEXT


def test_calls_of_tools_and_their_results_are_as_openai_writes_them():
    parts = [
        {"role": "user", "parts": [{"type": "text", "content": "Find it"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", **CALL}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "result": "here"}]},
    ]
    openai = [
        {"role": "user", "content": "Find it"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": CALL}]},
        {"role": "tool", "content": "here"},
    ]
    indexed = {
        "gen_ai.prompt.0.content": "Find it",
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.name": "find",
        "gen_ai.prompt.1.tool_calls.0.arguments": CALL["arguments"],
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.content": "here",
    }
    expected = chat_text({"gen_ai.input.messages": openai})
    assert expected is not None
    assert "<tool_call>" in expected
    assert chat_text({"gen_ai.input.messages": parts}) == expected
    assert chat_text(indexed) == expected


def test_an_answer_that_is_json_is_a_text():
    answer = answer_message({"gen_ai.output.text": '[{"a": 1}]'})
    assert answer is not None
    assert answer_text(answer) == '[{"a": 1}]'


@pytest.mark.parametrize("empty", ["", "[]", [], None])
def test_empty_attributes_tell_nothing(empty):
    assert prompt_messages({"gen_ai.input.messages": empty}) is None
    assert answer_message({"gen_ai.output.messages": empty, "gen_ai.output.text": empty}) is None


@pytest.mark.parametrize(
    "attributes",
    [{"gen_ai.prompt": 7}, {"gen_ai.prompt.0.content": 7}, {"gen_ai.prompt": {"a": 1}}],
)
def test_what_is_no_text_is_refused_by_name(attributes):
    with pytest.raises(SpanError) as caught:
        prompt_messages(attributes)
    assert caught.value.problem[0].startswith("gen_ai.prompt")
    assert "expected text" in caught.value.problem[1]
