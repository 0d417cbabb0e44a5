from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from tests.workloads.formats.examples import EXAMPLES
from workloads.opening import format_of, open_trace
from workloads.reading.head import read_head
from workloads.recognition import field_names


@pytest.fixture
def refused(tmp_path):
    def refused(text, **options):
        path = tmp_path / "t.dat"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        with pytest.raises(DataError) as caught:
            open_trace(path, **options)
        return str(caught.value).removeprefix(str(path))

    return refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            {"timestamp": 1, "output_length": 5, "hash_ids": [1]},
            "found: timestamp, output_length, hash_ids; nearest: mooncake, which also needs "
            "'input_length' or 'input_tokens'; --format",
        ),
        (
            "arrived_at,num_prefill_tokens,x\n1,2,3\n",
            "found: arrived_at, num_prefill_tokens, x; nearest: vidur, which also needs "
            "'num_decode_tokens'; --format",
        ),
        (
            {"chat_id": 1, "parent_chat": 2, "hash_ids": [1]},
            "nearest: bailian, which also needs 'parent_chat_id'",
        ),
        ({"prompts": "x", "ts": 5}, "found: prompts, ts; nearest: prompts, which also needs"),
        ({"foo": 1, "bar": 2}, "found: foo, bar; --format names one of dynamo, "),
        (
            {"prompt_len": 10, "output_len": 5},
            "; lengths alone are read as vidur: CSV with the columns 'prompt_len' and 'output_len'",
        ),
        ('[{"prompt_len": 10, "output_len": 5}]', "; lengths alone are read as vidur: CSV"),
        (
            "input_len,output_len,prefix_len\n1,2,3\n",
            "nearest: tracelab, which also needs 'round_idx' and",
        ),
        ("hello world\nfoo\n", "found: hello world; --format"),
        ('[{"a": 1, "b": 2}]', "found: a, b; --format"),
    ],
)
def test_an_unknown_file_tells_its_fields_and_what_the_nearest_format_lacks(refused, text, message):
    refusal = refused(text)
    assert refusal.startswith(": looks like no known trace format; ")
    assert message in refusal


def test_names_are_few_and_safe_to_print(refused):
    refusal = refused({f"\x1b[31m{at}" + "x" * 90: 1 for at in range(40)})
    assert refusal.isprintable()
    assert "and 28 more" in refusal
    assert len(refusal) < 1200


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mooncake", {"a": 1, "b": 2}, ":1: field 'input_length': expected this field, found none"),
        ("mooncake", {"a": 1, "b": 2}, "found none among a, b"),
        ("mooncake", {"input_length": 1, "b": 2}, "field 'hash_ids': expected this field"),
        ("chat", {"prompt": "x"}, "field 'messages'"),
        ("otel", {"a": 1}, "field 'spans': expected this field, found none among a"),
        ("mooncake", "a,b\n1,2\n", "text that begins with 'a,b'"),
        ("otel", "a,b\n1,2\n", "text that begins with 'a,b'"),
        ("vidur", {"a": 1}, "with num_prefill_tokens, num_decode_tokens; found '{"),
        (
            "vidur",
            "arrived_at,b\n1,2\n",
            "with num_prefill_tokens, num_decode_tokens; found 'arrived_at,b'",
        ),
        ("prompts", "a,b\n1,2\n", "expected 'prompt', 'text' or 'input', found none among a, b"),
    ],
)
def test_a_file_of_another_kind_tells_what_is_missing_and_what_it_has(refused, name, text, message):
    assert message in refused(text, format=name)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_file_of_a_known_format_is_still_recognised(tmp_path, name):
    path = tmp_path / "t.dat"
    path.write_bytes(EXAMPLES[name])
    assert format_of(path) == name


@pytest.mark.parametrize("name", ["bailian", "claude-code", "copilot", "lmcache", "mooncake"])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_lines_of_a_format_tells_that_it_wants_lines(refused, name, indent):
    lines = [json.loads(line) for line in EXAMPLES[name].splitlines() if line]
    message = f"found a JSON array; the format {name} wants one object a line"
    assert message in refused(json.dumps(lines, indent=indent))


@pytest.mark.parametrize(("mark", "called"), [(";", "';'"), ("\t", "a tab")])
def test_another_separator_than_the_comma_is_named(refused, mark, called):
    text = f"arrived_at{mark}num_prefill_tokens{mark}num_decode_tokens\n1{mark}2{mark}3\n"
    for options in ({}, {"format": "vidur"}):
        assert f"; columns are separated by {called}, expected ','" in refused(text, **options)


def test_columns_and_fields_are_found(tmp_path):
    path = tmp_path / "t.dat"
    path.write_text('{"a":{"b":1}}')
    assert field_names(read_head(path)) == ["a"]
    path.write_text('"a", b\n1,2')
    assert field_names(read_head(path)) == ["a", "b"]


@pytest.mark.parametrize("line", [b'{"\xff":1}', b'{"a":' + b"[" * 9000, b'{"a":1}\xff'])
def test_a_row_whose_fields_cannot_be_listed_is_one_line(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_bytes(line)
    with pytest.raises(DataError, match=r"t\.jsonl:1: "):
        open_trace(path, format="mooncake")
