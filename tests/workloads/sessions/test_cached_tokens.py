"""What cached tokens mean: said, proved, named, or by convention."""

from __future__ import annotations

import msgspec
import pytest

from workloads.prefixes.prompts import BlockKeys
from workloads.rows import Rows
from workloads.sessions.cached_tokens import CachedMeaning, CountedTokens, usual_meaning
from workloads.sessions.usage import Usage


@pytest.mark.parametrize(
    ("provider", "model", "meaning", "sure"),
    [
        ("anthropic", None, "outside", False),
        ("Anthropic", "m", "outside", False),
        ("openai", "gpt-5", "inside", True),
        ("openai", "claude-opus-4-8", "inside", True),  # by an interface like OpenAI's
        ("aws.bedrock", "anthropic.claude-v4", "outside", False),
        ("gcp.vertex_ai", "gemini-3", "inside", False),
        (None, "claude-opus-4-8", "outside", False),
        (None, "qwen", "inside", False),
        (None, None, "inside", False),
    ],
)
def test_names_say_what_is_usual(provider, model, meaning, sure):
    usual = usual_meaning(provider, model)
    assert (usual.meaning, usual.sure) == (meaning, sure)


def settled(given, provider, *counts):
    meaning = CachedMeaning(given)
    for line, counted in enumerate(counts, start=1):
        meaning.see("g", CountedTokens(*counted), usual_meaning(provider, None), line)
    return meaning


@pytest.mark.parametrize(
    ("given", "provider", "counts", "expected"),
    [
        (None, "openai", [(100, 40), (90, 90)], "inside"),
        (None, "openai", [(100, 40), (3, 90)], "outside"),  # a part is not above its whole
        (None, "openai", [(100, 40, 61)], "outside"),
        (None, "anthropic", [(100, 40)], "outside"),
        ("inside", "anthropic", [(3, 90)], "inside"),
        ("outside", "openai", [(100, 40)], "outside"),
        (None, "openai", [(100, 40)] * 200 + [(100, 101)], "inside"),  # one in 201 is a stray
        (None, "openai", [(100, 0)] * 999 + [(3, 90)], "outside"),  # of those with cached ones
    ],
)
def test_what_is_said_goes_before_what_is_proved_before_what_is_named(
    given, provider, counts, expected
):
    assert settled(given, provider, *counts).meaning("g") == expected


def test_a_prompt_is_the_input_or_the_sum():
    assert settled("inside", None, (100, 40, 7)).prompt("g", CountedTokens(100, 40, 7)) == (100, 40)
    assert settled("outside", None, (100, 40, 7)).prompt("g", CountedTokens(100, 40, 7)) == (
        147,
        40,
    )
    assert settled("inside", None, (3, 40)).prompt("g", CountedTokens(3, 40)) == (3, 3)


def rows_with(*settled):
    rows = Rows(BlockKeys(1))
    for meaning in settled:
        meaning.tell(rows)
    return rows


def test_notes_say_what_was_taken_for_what_and_why():
    assert rows_with(settled(None, "openai", (100, 0))).facts == []
    facts = rows_with(settled(None, "openai", (3, 90), (4, 2))).facts
    assert facts == [
        "cached tokens come on top of the input tokens, and prompts are both (g): "
        "1 of 2 calls have more of them than input tokens"
    ]
    rows = rows_with(settled(None, "anthropic", (100, 40)))
    assert rows.facts[0].endswith("as Anthropic counts")
    assert "--cached-tokens inside" in rows.oddities["cached-outside"].detail
    rows = rows_with(settled(None, None, (100, 0), (100, 40)))
    assert "--cached-tokens outside" in rows.oddities["cached-inside"].detail
    assert rows.oddities["cached-inside"].first_line == 2
    stray = rows_with(settled(None, "openai", *[(100, 40)] * 200, (100, 101)))
    assert stray.oddities["cached-over-input"].count == 1
    assert stray.oddities["cached-over-input"].first_line == 201
    sure = rows_with(settled("inside", None, (100, 40)))
    assert sure.oddities == {}
    assert sure.facts[0].endswith("as --cached-tokens says")


@pytest.mark.parametrize(
    ("usage", "model", "prompt"),
    [
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 64}}, None, 100),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 64}}, "claude-x", 100),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 64}, None, 100),
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}}, None, 100),
        ({"input_tokens": 100, "cache_read_input_tokens": 64}, None, 164),
        (
            {
                "input_tokens": 3,
                "cache_read_input_tokens": 64,
                "cache_creation_input_tokens": 9,
            },
            None,
            76,
        ),
        ({"prompt_tokens": 3, "cache_read_input_tokens": 64}, None, 67),
        ({"input_tokens": 5}, "claude-x", 5),
        ({"output_tokens": 5}, None, None),
    ],
)
def test_usage_tells_the_whole_prompt_by_whatever_names(usage, model, prompt):
    read = msgspec.convert(usage, Usage)
    assert read.whole_prompt(CachedMeaning(), model, 1) == prompt


def test_usage_tells_the_answer_by_either_name():
    assert Usage(completion_tokens=7).answer() == ("usage.completion_tokens", 7)
    assert Usage(output_tokens=7).answer() == ("usage.output_tokens", 7)
    assert Usage().answer()[1] == 0
