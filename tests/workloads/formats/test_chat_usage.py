"""Chat logs whose `usage` counts cached tokens inside the prompt, or outside."""

from __future__ import annotations

import json

import pytest

from simulator.base.errors import UsageError
from workloads.opening import open_trace


@pytest.fixture
def kinds(tmp_path):
    def kinds(usage, **options):
        path = tmp_path / "log.jsonl"
        messages = [{"role": "user", "content": "word " * 80}]
        path.write_text(json.dumps({"messages": messages, "usage": usage}) + "\n")
        trace = open_trace(path, **options)
        assert trace.output_tokens.tolist() == [7]
        return {note.partition(":")[0] for note in trace.notes}

    return kinds


ANTHROPIC = {"input_tokens": 6, "cache_read_input_tokens": 85, "output_tokens": 7}
OPENAI = {
    "prompt_tokens": 91,
    "prompt_tokens_details": {"cached_tokens": 85},
    "completion_tokens": 7,
}


@pytest.mark.parametrize("usage", [ANTHROPIC, OPENAI])
def test_the_whole_prompt_is_compared_with_the_text(kinds, usage):
    assert "other-length" not in kinds(usage)


def test_the_usage_of_gemini_has_cached_tokens_within(tmp_path):
    path = tmp_path / "log.jsonl"
    usage = {"promptTokenCount": 91, "cachedContentTokenCount": 85, "candidatesTokenCount": 7}
    usage["totalTokenCount"] = 98
    row = {"messages": [{"role": "user", "content": "word " * 80}]}
    path.write_text(json.dumps(row | {"response": {"usageMetadata": usage}}) + "\n")
    trace = open_trace(path)
    assert trace.output_tokens.tolist() == [7]
    assert not any(note.startswith(("other-length", "not used")) for note in trace.notes)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"usage": {"prompt_tokens": 9999}}, "usage.prompt_tokens"),
        ({"response": {"usage": {"input_tokens": 9999}}}, "response.usage.input_tokens"),
        ({"response": {"body": {"usage": {"input_tokens": 9999}}}}, "response.body.usage.input"),
    ],
)
def test_a_length_that_differs_is_told_by_the_name_it_has(tmp_path, record, field):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "word"}]} | record))
    notes = open_trace(path).notes
    assert any(note.startswith(f"other-length: 1 x {field}") for note in notes)


def test_the_user_may_say_otherwise(kinds):
    assert "other-length" in kinds(ANTHROPIC, cached_tokens="inside")
    assert "other-length" in kinds(OPENAI, cached_tokens="outside")
    with pytest.raises(UsageError, match="cached tokens: unknown 'beside'"):
        kinds(OPENAI, cached_tokens="beside")


def test_other_formats_have_no_such_question(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,591,140\n")
    with pytest.raises(UsageError, match="'vidur' has no such option"):
        open_trace(path, cached_tokens="inside")
