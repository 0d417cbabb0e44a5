"""Templates held against the library that servers render with."""

from __future__ import annotations

import json

import pytest

from tests.workloads.text.templates.chats import CHATS, messages
from tests.workloads.text.templates.jinjas import JINJAS
from workloads.text.templates import template_for

render = pytest.importorskip(
    "transformers.utils.chat_template_utils", reason="transformers is absent"
).render_jinja_template
BOS = "<|begin_of_text|>"


def theirs(jinja, chat, **variables):
    given = {"add_generation_prompt": True, "bos_token": BOS} | variables
    rendered, _ = render(conversations=[chat], chat_template=jinja, **given)
    return rendered[0]


@pytest.mark.parametrize("chat", CHATS)
@pytest.mark.parametrize("name", JINJAS)
def test_ours_renders_as_transformers_does(name, chat):
    prompt = template_for(name).prompt(messages(CHATS[chat]), ())
    assert prompt == theirs(JINJAS[name], CHATS[chat])


@pytest.mark.parametrize("chat", CHATS)
@pytest.mark.parametrize("name", ["qwen3.6", "qwen3"])
def test_so_it_does_without_thinking(name, chat):
    prompt = template_for(f"{name}:thinking=false").prompt(messages(CHATS[chat]), ())
    assert prompt == theirs(JINJAS[name], CHATS[chat], enable_thinking=False)


@pytest.mark.parametrize("chat", CHATS)
@pytest.mark.parametrize("name", JINJAS)
@pytest.mark.parametrize("variables", [{}, {"enable_thinking": False}])
def test_a_file_renders_as_transformers_does(tmp_path, name, chat, variables):
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": JINJAS[name], "bos_token": {"content": BOS}}))
    given = ",".join(f"{key}={value}".lower() for key, value in variables.items())
    template = template_for(f"{path}:{given}" if given else str(path))
    expected = theirs(JINJAS[name], CHATS[chat], **variables)
    assert template.prompt(messages(CHATS[chat]), ()) == expected


def test_extras_of_transformers_are_there(tmp_path):
    jinja = (
        "{% for m in messages %}\n  {% if m.role == 'system' %}{% continue %}{% endif %}\n"
        "{% generation %}{{ {'a': m.content, 'b': [1]} | tojson(indent=2) }}{% endgeneration %}\n"
        "{% endfor %}\n{{ tools | tojson }}{{ documents }}{{ add_generation_prompt }}"
    )
    path = tmp_path / "t.jinja"
    path.write_text(jinja)
    chat = [{"role": "system", "content": "x"}, {"role": "user", "content": "<é & 'q'>"}]
    tools = [{"type": "function", "function": {"name": "f", "description": "é"}}]
    expected = theirs(jinja, chat, tools=tools)
    assert template_for(str(path)).prompt(messages(chat), tools) == expected
