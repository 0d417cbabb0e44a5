from __future__ import annotations

import pytest

from simulator.base.errors import DataError, UsageError
from tests.workloads.text.templates.chats import (
    CALLS,
    FIND,
    FOUND,
    HELLO,
    HI,
    MORE,
    SYSTEM,
    messages,
)
from workloads.options import ReadOptions
from workloads.text.templates import TEMPLATES, name_of_template, template_for
from workloads.text.templates.models import template_of_model
from workloads.text.templates.notes import default_template_remark, noted_template, template_notes


def test_llama3_always_has_a_system_turn_and_tools_in_the_first_question():
    text = template_for("llama3").prompt(messages([HI, CALLS, FOUND]), [FIND])
    header = "<|start_header_id|>{}<|end_header_id|>\n\n".format
    assert text.startswith(
        f"<|begin_of_text|>{header('system')}Environment: ipython\nCutting Knowledge Date: "
        "December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|>"
    )
    assert f"{header('user')}Given the following functions, " in text
    assert '    "type": "function",' in text
    assert "}\n\nHi<|eot_id|>" in text
    assert f'{header("assistant")}{{"name": "find", "parameters": {{"q": "x"' in text
    assert text.endswith(f'{header("ipython")}"one"<|eot_id|>{header("assistant")}')


@pytest.mark.parametrize("name", ["chatml", "llama3", "plain"])
def test_a_chat_goes_on_from_the_answer(name):
    template = template_for(name)
    reply = {**HELLO, "reasoning_content": None}
    first = template.prompt(messages([SYSTEM, HI]), ())
    answer = template.answer(messages([SYSTEM, HI]), (), messages([reply])[0])
    second = template.prompt(messages([SYSTEM, HI, reply, MORE]), ())
    assert answer == "Hello!"
    assert second.startswith(first + answer)


def test_plain_is_text_alone():
    assert template_for("plain").prompt(messages([SYSTEM, HI]), ()) == "Be brief.\nHi\n"


@pytest.mark.parametrize("name", [*TEMPLATES, "qwen3.5:thinking=false", "qwen3:thinking=false"])
def test_a_template_has_one_name(name):
    assert name_of_template(template_for(name)) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qwen9", "is no file, and no known name (qwen3.5, qwen3.6, qwen3, chatml, llama3, plain)"),
        ("qwen3.5:thinkin=true", "unknown parameter 'thinkin'; did you mean 'thinking'?"),
        ("qwen3.5:thinking=1", "thinking: expected true or false, found '1'"),
        ("chatml:thinking=true", "unknown parameter 'thinking'; it takes none"),
        ("a\0b", "is no file"),
    ],
)
def test_names_that_are_none_are_refused(name, message):
    with pytest.raises(UsageError) as caught:
        template_for(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("qwen3.5-9b", "qwen3.5"),
        ("Qwen/Qwen3.5-397B-A17B", "qwen3.5"),
        ("qwen3.5-0.8b", "qwen3.5:thinking=false"),
        ("Qwen3.5-2B-Instruct", "qwen3.5:thinking=false"),
        ("Qwen3.6-27B", "qwen3.6"),
        ("qwen3-next-80b-a3b", "qwen3"),
        ("Qwen3-8B", "qwen3"),
        ("Meta-Llama-3.1-8B-Instruct", "llama3"),
        ("nemotron-nano-9b-v2", "chatml"),
        ("qwen2.5-7b", "chatml"),
    ],
)
def test_models_have_the_template_of_their_family(model, template):
    assert template_of_model(model) == template
    template_for(template)


@pytest.mark.parametrize("name", [*TEMPLATES, "qwen3.5:thinking=false"])
def test_notes_tell_the_template_and_can_be_read_again(name):
    notes = template_notes(template_for(name), ReadOptions(template=name))
    assert noted_template(["tokens are words", *notes]) == name
    default = template_notes(template_for(name), ReadOptions(default_template=name))
    assert any("of the profile's model" in note for note in default)
    assert noted_template(default) == name
    assert "--template" in (default_template_remark(ReadOptions()) or "")
    assert default_template_remark(ReadOptions(template=name)) is None
    assert noted_template(["tokens are words"]) is None


def test_a_broken_file_is_one_line(tmp_path):
    cases = {
        "broken.jinja": ("{% if %}", ":1: is no usable template: "),
        "empty.json": ("{}", "field 'chat_template': expected a template here"),
        "list.json": ("[1]", "field 'chat_template': expected a template here"),
        "no.json": ("{", "expected JSON with a chat template"),
        "unknown.jinja": ("{{ 1 | nothing }}", "No filter named 'nothing'"),
    }
    for name, (text, message) in cases.items():
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            template_for(str(path))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)
    with pytest.raises(UsageError, match="expected key=value, found 'x'"):
        template_for(f"{tmp_path / 'list.json'}:x")
