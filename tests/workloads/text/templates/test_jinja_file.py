from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from tests.workloads.text.templates.chats import CALLS, FIND, HELLO, HI, messages
from tests.workloads.text.templates.jinjas import JINJAS
from workloads.text.templates import RenderError, template_for


@pytest.fixture
def file(tmp_path):
    def write(text, name="chat_template.jinja", variables=""):
        path = tmp_path / name
        path.write_text(text)
        return template_for(f"{path}{variables}")

    return write


@pytest.mark.parametrize("name", ["qwen3.6", "qwen3"])
@pytest.mark.parametrize("message", [HELLO, CALLS], ids=["an answer", "a call"])
@pytest.mark.parametrize("thinking", [True, False])
def test_an_answer_is_what_the_template_adds(file, name, message, thinking):
    given = "" if thinking else ":enable_thinking=false"
    message = message if thinking else {**message, "reasoning_content": ""}
    asked, answer = messages([HI]), messages([message])[0]
    ours = template_for(name if thinking else f"{name}:thinking=false")
    assert file(JINJAS[name], variables=given).answer(asked, (), answer) == ours.answer(
        asked, (), answer
    )


def test_an_answer_whose_reasoning_the_template_takes_away_at_once_keeps_it(file):
    jinja = (
        "{% for m in messages %}<{{ m.role }}>{{ (m.content or '').split('</think>')[-1] }}"
        "{% endfor %}{% if add_generation_prompt %}<assistant><think>\n{% endif %}"
    )
    template = file(jinja)
    answer = template.answer(messages([HI]), (), messages([HELLO])[0])
    assert answer == "A greeting.\n</think>\n\nHello!"
    assert template.opens_reasoning()


def test_a_configuration_may_have_a_template_for_tools(file):
    config = {
        "chat_template": [
            {"name": "default", "template": "plain {{ messages[0].content }}"},
            {"name": "tool_use", "template": "{{ tools[0].function.name }} {{ eos_token }}"},
        ],
        "eos_token": "<e>",
    }
    template = file(json.dumps(config), "tokenizer_config.json")
    assert template.prompt(messages([HI]), ()) == "plain Hi"
    assert template.prompt(messages([HI]), [FIND]) == "find <e>"


def test_a_template_may_stand_beside_its_configuration(file, tmp_path):
    file("{{ bos_token }}{{ messages[0].content }}")
    config = json.dumps({"bos_token": "<b>"})
    assert file(config, "tokenizer_config.json").prompt(messages([HI]), ()) == "<b>Hi"
    assert template_for(str(tmp_path)).prompt(messages([HI]), ()) == "Hi"


def test_arguments_are_read_as_servers_do(file):
    jinja = "{% for m in messages %}{{ m.tool_calls[0].function.arguments.q }}{% endfor %}"
    text = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    text["tool_calls"][0]["function"]["arguments"] = '{"q": "x"}'
    assert file(jinja).prompt(messages([text]), ()) == "x"


def test_the_day_is_the_same_every_day(file):
    assert file("{{ strftime_now('%d %b %Y') }}").prompt(messages([HI]), ()) == "26 Jul 2024"


@pytest.mark.parametrize(
    "jinja",
    [
        "{{ raise_exception('No\nuser') }}",
        "{{ messages[9].content.strip() }}",
        "{% include '/etc/passwd' %}",
        "{% for i in range(10000000) %}{% endfor %}",
        "{{ 1 / 0 }}",
    ],
)
def test_what_a_template_refuses_is_one_line(file, jinja):
    template = file(jinja)
    with pytest.raises(RenderError, match=r"^the chat template refuses it: ") as caught:
        template.prompt(messages([HI]), ())
    assert "\n" not in str(caught.value)


DOUBLE = "{{% set ns = namespace(s='aaaa') %}}{{% for i in range(60) %}}{}{{% endfor %}}"


@pytest.mark.parametrize(
    "jinja",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
        "{{ 'a' * 10000000000 }}",
        "{{ 9 ** 9 ** 9 ** 9 }}",
        "{{ 'a'.ljust(10000000000) }}",
        "{{ 'a' | center(10000000000) }}",
        "{{ '%10000000000d' % 1 }}",
        "{{ '%10000000000d' | format(1) }}",
        "{{ '{:>10000000000}'.format('a') }}",
        "{{ '{:>{}}'.format('a', 10000000000) }}",
        DOUBLE.format("{% set ns.s = ns.s ~ ns.s %}"),
        DOUBLE.format("{% set ns.s = ns.s + ns.s %}"),
        DOUBLE.format("{% set ns.s %}{{ ns.s }}{{ ns.s }}{% endset %}"),
        DOUBLE.format("{% set ns.s = ns.s.replace('a', ns.s) %}"),
        DOUBLE.format("{% set ns.s = [ns.s, ns.s] | join %}"),
        DOUBLE.format("{% set ns.s = ns.s | list + ns.s | list %}"),
    ],
)
def test_a_malicious_template_is_stopped(file, jinja):
    template = file(jinja)
    with pytest.raises(DataError, match=r"chat_template\.jinja: the template ") as caught:
        template.prompt(messages([HI]), ())
    assert "\n" not in str(caught.value)


def test_bounds_leave_templates_alone(file):
    jinja = (
        "{% for m in messages %}{{ '%02d' % loop.index }}{{ '-' * 3 }}{{ 'a' ~ 1 ~ none }}"
        "{{ 2 * 3 + 1 }}{{ '{}'.format('x') }}{{ [1] + [2] }}{% endfor %}"
    )
    assert file(jinja).prompt(messages([HI]), ()) == "01---a1None7x[1, 2]"


def test_steps_are_those_of_one_prompt(file):
    template = file("{% for i in range(200) %}{% for j in range(1000) %}{% endfor %}{% endfor %}")
    assert [template.prompt(messages([HI]), ()) for _ in range(2)] == ["", ""]
