"""Of every format: a field that nobody reads is named, and what belongs to a key keeps apart.

A format is here by its entry in `EXAMPLES`, or in `FOLDERS` where it is a folder.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workloads.formats.examples import EXAMPLES, FOLDERS
from workloads.formats import FORMATS
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

SMALL = sorted(EXAMPLES)
SURPRISE = "surprise"
SHARING = {  # formats whose rows are lines that name prefixes, and two rows that share one
    "aiperf": {"text": "one two three four", "output_length": 3},
    "bailian": {
        "chat_id": 1,
        "parent_chat_id": -1,
        "timestamp": 1,
        "input_length": 32,
        "output_length": 1,
        "hash_ids": [1, 2],
    },
    "chat": {"messages": [{"role": "user", "content": "one two three four"}]},
    "dynamo": {
        "schema": "dynamo.request.trace.v1",
        "event_type": "request_end",
        "request": {
            "request_received_ms": 1,
            "replay": {
                "trace_block_size": 16,
                "input_length": 32,
                "input_sequence_hashes": [1, 2],
            },
        },
    },
    "kv-cache-tester": {
        "block_size": 16,
        "hash_id_scope": "global",
        "requests": [{"t": 0, "in": 32, "out": 1, "hash_ids": [1, 2]}],
    },
    "llmservingsim": {
        "arrival_time_ns": 1,
        "input_toks": 3,
        "output_toks": 0,
        "input_tok_ids": [1, 2, 3],
    },
    "mooncake": {"input_length": 512, "hash_ids": [1]},
    "prompts": {"prompt": "one two three four"},
    "quality": {"article_id": 1, "article": "one two three", "question": "four"},
}


def with_field(data: bytes, name: str) -> bytes:
    """Return a file whose records have one field more, which is 1."""
    if data[:1] not in b"{[":
        first, *others = data.splitlines()
        return b"\n".join([first + b"," + name.encode(), *(line + b",1" for line in others)])
    records = [json.loads(line) for line in data.splitlines() if line]
    return "\n".join(json.dumps(record | {name: 1}) for record in records).encode()


def surprises(path: Path, **options: str) -> list[str]:
    return [
        note
        for note in open_trace(path, **options).notes
        if note.startswith("not used: ") and f"`{SURPRISE}`" in note
    ]


@pytest.mark.parametrize("name", SMALL)
def test_a_field_that_nobody_reads_is_named_once_with_its_rows(tmp_path, name):
    path = tmp_path / "t.dat"
    path.write_bytes(with_field(EXAMPLES[name], SURPRISE))
    assert format_of(path) == name
    assert len(surprises(path)) == 1
    anomalies = [each for each in validate(path) if f"`{SURPRISE}`" in each.detail]
    assert [each.what for each in anomalies] == ["not-used"]
    records = len(EXAMPLES[name].splitlines()) - (EXAMPLES[name][:1] not in b"{[")
    assert anomalies[0].count == records
    assert not anomalies[0].error


@pytest.mark.parametrize("name", sorted(set(FOLDERS) - {"system-prompts"}))
def test_columns_of_folders_that_nobody_reads_are_named(tmp_path, name):
    for part, data in FOLDERS[name].items():
        (tmp_path / part).write_bytes(with_field(data, SURPRISE))
    assert len(surprises(tmp_path, format=name)) == 1


@pytest.mark.parametrize("name", [*SMALL, *sorted(FOLDERS)])
def test_nothing_but_what_a_format_leaves_out_knowingly_is_unused_in_its_example(tmp_path, name):
    path = tmp_path / "t.dat"
    if name in EXAMPLES:
        path.write_bytes(EXAMPLES[name])
    else:
        path.mkdir()
        for part, data in FOLDERS[name].items():
            (path / part).write_bytes(data)
    assert [note for note in open_trace(path, format=name).notes if "not used" in note] == []


@pytest.mark.parametrize("name", sorted(SHARING))
@pytest.mark.parametrize("field", ["cache_salt", "lora_name", "model"])
def test_rows_of_different_keys_share_nothing(tmp_path, name, field):
    path = tmp_path / "t.jsonl"
    records = [SHARING[name] | {field: value} for value in "aabb"]
    path.write_text("\n".join(map(json.dumps, records)))
    whole = int(open_trace(path, format=name).prompt_tokens[0])
    apart, together = (
        overlaps(open_trace(path, format=name, isolate=kinds)).tolist() for kinds in (None, "none")
    )
    assert together == [0, whole, whole, whole]
    assert apart == [0, whole, 0, whole]


def test_formats_say_why_they_leave_a_field_out():
    for format in FORMATS.values():
        for path, reason in format.not_needed.items():
            assert path
            assert len(reason) > 10


@pytest.mark.parametrize("place", ["body", "request", "response"])
def test_a_model_stands_where_logs_wrap_it(tmp_path, place):
    path = tmp_path / "t.jsonl"
    messages = [{"role": "user", "content": "one two three four"}]
    asked = {"body": {"messages": messages}}
    rows = [asked | {place: {"model": model} | asked.get(place, {})} for model in "mnm"]
    path.write_text("\n".join(map(json.dumps, rows)))
    if place == "request":
        rows = [{"request": {"messages": messages, "model": model}} for model in "mnm"]
        path.write_text("\n".join(map(json.dumps, rows)))
    shared = overlaps(open_trace(path, format="chat")).tolist()
    assert shared[1] == 0
    assert shared[2] > 0


def test_media_separate_from_where_they_stand(tmp_path):
    path = tmp_path / "t.jsonl"
    text = {"type": "text", "text": "look at this picture"}

    def asked(url, **others):
        picture = {"type": "image_url", "image_url": {"url": url}, **others}
        return {"messages": [{"role": "user", "content": [text, picture]}]}

    rows = [asked("a"), asked("b"), asked("a"), asked("c", uuid="u"), asked("d", uuid="u")]
    path.write_text("\n".join(map(json.dumps, rows)))
    trace = open_trace(path)
    shared = overlaps(trace).tolist()
    whole = int(trace.prompt_tokens[0])
    assert 0 < shared[1] < whole
    assert shared[1] == shared[3]
    assert shared[2] == shared[4] == whole


def test_media_of_a_turn_separate_behind_its_text(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"text": "look at this", "image": url} for url in "aba"]
    path.write_text("\n".join(map(json.dumps, rows)))
    trace = open_trace(path)
    shared = overlaps(trace).tolist()
    assert 0 < shared[1] < shared[2] == int(trace.prompt_tokens[0])


def test_models_of_requests_within_a_session_and_a_salt_around_them(tmp_path):
    path = tmp_path / "t.jsonl"
    requests = [
        {"t": at, "in": 32, "out": 1, "hash_ids": [1, 2], "model": model}
        for at, model in enumerate("mnm")
    ]
    session = {"block_size": 16, "hash_id_scope": "global", "requests": requests}
    path.write_text("\n".join(json.dumps(session | {"cache_salt": salt}) for salt in "st"))
    assert sorted(overlaps(open_trace(path)).tolist()) == [0, 0, 0, 0, 32, 32]
    path.write_text(json.dumps(session))
    assert overlaps(open_trace(path)).tolist() == [0, 0, 32]


def test_bodies_and_spans_of_a_document_have_their_own_keys(tmp_path):
    path = tmp_path / "t.json"
    bodies = [{"prompt": "one two three", "cache_salt": salt} for salt in "aba"]
    path.write_text(json.dumps({"data": [{"payloads": bodies}]}))
    assert overlaps(open_trace(path)).tolist() == [0, 0, 3]
    spans = json.loads(EXAMPLES["otel"])["spans"][:1] * 3
    spans = [
        span | {"attributes": span["attributes"] | {"gen_ai.request.model": model, "seed": 1}}
        for span, model in zip(spans, "mnm", strict=True)
    ]
    path.write_text(json.dumps({"spans": spans}))
    trace = open_trace(path)
    assert overlaps(trace).tolist() == [0, 0, int(trace.prompt_tokens[0])]
    assert "not used: `attributes.seed` (3 calls)" in trace.notes
