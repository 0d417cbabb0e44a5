"""OpenTelemetry a document a line, agents around calls, and what cached tokens mean."""

from __future__ import annotations

import gzip
import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

START = 1_768_035_600_123_456_789
ANTHROPIC = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-opus-4-8"}


def typed(value):
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(number, start=0, operation="chat", parent="", **attributes):
    fields = {"gen_ai.operation.name": operation} | attributes
    return {
        "traceId": "t",
        "spanId": str(number),
        "parentSpanId": parent,
        "name": operation,
        "startTimeUnixNano": str(START + start),
        "endTimeUnixNano": str(START + start + 1_000_000_000),
        "attributes": [{"key": key, "value": typed(value)} for key, value in fields.items()],
        "status": {},
    }


def used(prompt, answer=1, read=None, created=None, **attributes):
    counts = {"gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": answer}
    if read is not None:
        counts["gen_ai.usage.cache_read.input_tokens"] = read
    if created is not None:
        counts["gen_ai.usage.cache_creation.input_tokens"] = created
    return counts | attributes


def otlp(*spans, scope="x"):
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": [*spans]}]}]}


@pytest.fixture
def write(tmp_path):
    def write(*documents, name="traces.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(document) + "\n" for document in documents))
        return path

    return write


SECONDS = [0, 2_000_000_000, 4_000_000_000]
CHATS = [span(at, start, **used(1000 + at, 20)) for at, start in enumerate(SECONDS)]


def jaeger(chat):
    values = {entry["key"]: entry["value"] for entry in chat["attributes"]}
    tags = [
        {"key": key, "type": "string", "value": int(*value.values())}
        if "intValue" in value
        else {"key": key, "type": "string", "value": value["stringValue"]}
        for key, value in values.items()
    ]
    return {
        "traceID": "t",
        "spanID": chat["spanId"],
        "operationName": "chat",
        "references": [],
        "startTime": int(chat["startTimeUnixNano"]) // 1000,
        "duration": 1_000_000,
        "tags": tags,
    }


def console(chat):
    values = {entry["key"]: entry["value"] for entry in chat["attributes"]}
    seconds = (int(chat["startTimeUnixNano"]) - START) // 10**9
    return {
        "name": "chat",
        "context": {"trace_id": "0xt", "span_id": "0x" + chat["spanId"]},
        "parent_id": None,
        "start_time": f"2026-01-10T09:00:0{seconds}.123456Z",
        "attributes": {
            key: int(value["intValue"]) if "intValue" in value else value["stringValue"]
            for key, value in values.items()
        },
        "status": {"status_code": "UNSET"},
    }


@pytest.mark.parametrize(
    "documents",
    [
        [otlp(chat) for chat in CHATS],
        [otlp(*CHATS)],
        [otlp(*CHATS[:2]), {"resourceMetrics": []}, otlp(CHATS[2])],
        [{"resourceMetrics": []}, {"resourceLogs": []}, otlp(*CHATS)],
        [{"batches": otlp(*CHATS)["resourceSpans"]}],
        [[chat] for chat in CHATS],
        CHATS,
        [{"data": [{"traceID": "t", "spans": [jaeger(chat) for chat in CHATS]}]}],
        [{"data": [{"traceID": "t", "spans": [jaeger(chat)]}]} for chat in CHATS],
        [jaeger(chat) for chat in CHATS],
        [console(chat) for chat in CHATS],
        [[console(chat) for chat in CHATS]],
    ],
)
def test_a_trace_may_be_spread_over_lines_in_any_shape(write, documents):
    path = write(*documents)
    assert format_of(path) == "otel"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [1000, 1001, 1002]
    assert trace.output_tokens.tolist() == [20, 20, 20]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2, 4]
    assert trace.session.tolist() == [0, 0, 0]


def test_gzip_folders_and_documents_over_lines_are_read_alike(tmp_path):
    (tmp_path / "0.jsonl.gz").write_bytes(gzip.compress(json.dumps(otlp(CHATS[0])).encode()))
    (tmp_path / "1.jsonl").write_text("\n".join(json.dumps(otlp(chat)) for chat in CHATS[1:2]))
    (tmp_path / "2.json").write_text(json.dumps(otlp(CHATS[2]), indent=1))
    assert format_of(tmp_path) == "otel"
    assert open_trace(tmp_path).prompt_tokens.tolist() == [1000, 1001, 1002]


def test_a_bad_span_of_a_folder_is_named_by_its_file_and_number(tmp_path):
    (tmp_path / "1.json").write_text(json.dumps(otlp(*CHATS)))
    bad = span(9, 0, **used(-5))
    (tmp_path / "2.json").write_text(json.dumps(otlp(CHATS[0], bad)))
    with pytest.raises(DataError, match=r"2\.json:2: field 'gen_ai\.usage\.input_tokens'"):
        open_trace(tmp_path)


def test_a_nanosecond_between_arrivals_is_kept(write):
    trace = open_trace(write(otlp(span(0, 0, **used(9))), otlp(span(1, 1, **used(9)))))
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1e-9]


@pytest.mark.parametrize(
    "broken", ['{"resourceSpans": [', '{"a": 1}', "7", '{"resourceSpans": 7}', '[{"a": 1}]']
)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_broken_line_is_named_or_skipped(write, broken, at):
    path = write(*(otlp(chat) for chat in CHATS))
    lines = path.read_text().splitlines()
    lines[at] = broken
    path.write_text("\n".join(lines))
    with pytest.raises(DataError) as caught:
        open_trace(path, format="otel")
    assert str(caught.value).startswith(f"{path}:{at + 1}: ")
    assert len(open_trace(path, format="otel", on_bad_line="skip")) == 2


def test_what_is_around_calls_is_left_out_and_counted(write):
    inner = span(3, 100, "chat", "2", **used(30, 3))
    tool = span(2, 90, "execute_tool", "1")
    agent = span(1, 0, "invoke_agent", "0", **used(40, 4))
    workflow = span(0, 0, "invoke_workflow", **used(40, 4))
    alone = span(9, 500, "invoke_agent", **used(70, 7))
    chat = span(4, 10, "chat", "1", **used(10, 1))
    for order in ([inner, tool, agent, workflow, alone, chat], [workflow, agent, alone]):
        rest = [part for part in (inner, tool, chat) if part not in order]
        trace = open_trace(write(*(otlp(part) for part in [*order, *rest])))
        assert trace.prompt_tokens.tolist() == [10, 30, 70]
        assert trace.output_tokens.tolist() == [1, 3, 7]
        assert "aggregate: 2 x a span that sums up the calls below it: left out" in trace.notes


def test_embeddings_calls_without_counts_and_copies_are_left_out_and_counted(write):
    other = span(8, 9, "embeddings", **used(99))
    silent = span(7, 9, "chat")
    trace = open_trace(write(otlp(*CHATS), otlp(CHATS[1], other, silent)))
    assert trace.prompt_tokens.tolist() == [1000, 1001, 1002]
    kinds = {note.partition(":")[0] for note in trace.notes}
    assert {"no-generation", "no-usage", "duplicate-span"} <= kinds


def test_anthropic_counts_cached_tokens_on_top_and_openai_within(write):
    path = write(
        otlp(
            span(0, 0, **used(3, 5, 0, 900), **ANTHROPIC),
            span(1, 9, **used(4, 5, 900, 100), **ANTHROPIC),
            span(2, 20, **used(1000, 5, 640), **{"gen_ai.system": "openai"}),
        )
    )
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [903, 1004, 1000]
    assert overlaps(trace).tolist() == [0, 900, 0]
    notes = "\n".join(trace.notes)
    assert "on top of the input tokens, and prompts are both (anthropic): 2 of 2 calls" in notes
    assert "part of the input tokens (openai): as their provider counts" in notes


@pytest.mark.parametrize(
    ("given", "prompts"), [(None, [100, 110]), ("inside", [100, 110]), ("outside", [140, 170])]
)
def test_where_nothing_tells_cached_tokens_are_part_of_the_input(write, given, prompts):
    path = write(otlp(span(0, 0, **used(100, 1, 40)), span(1, 9, **used(110, 1, 60))))
    trace = open_trace(path, cached_tokens=given)
    assert trace.prompt_tokens.tolist() == prompts
    assert overlaps(trace).tolist() == [0, 60]
    doubt = any("say --cached-tokens outside" in note for note in trace.notes)
    assert doubt == (given is None)


def test_calls_that_cannot_be_otherwise_prove_what_cached_tokens_mean(write):
    openai = {"gen_ai.provider.name": "openai"}
    spans = [span(0, 0, **used(50, 1, 40), **openai), span(1, 9, **used(3, 1, 60), **openai)]
    assert open_trace(write(otlp(*spans))).prompt_tokens.tolist() == [90, 63]


def test_a_provider_that_only_hosts_models_counts_as_their_makers_do(write):
    hosted = {"gen_ai.provider.name": "aws.bedrock"}
    nova, claude = ({"gen_ai.request.model": name} for name in ("amazon.nova", "claude-opus"))
    spans = [
        span(0, 0, **used(900, 1, 640), **hosted, **nova),
        span(1, 9, **used(3, 1, 640), **hosted, **claude),
    ]
    for order in (spans, spans[::-1]):
        trace = open_trace(write(otlp(*order)))
        assert trace.prompt_tokens.tolist() == [900, 643]


def test_a_broken_count_proves_nothing_and_is_refused(write):
    path = write(otlp(span(0, 0, **used(100, 1, 40)), span(1, 9, **used(-5, 1, 40))))
    with pytest.raises(DataError, match=r"expected 1 to 1,000,000,000 tokens, found -5"):
        open_trace(path)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [100]


def test_libraries_that_add_cached_tokens_themselves_are_known(write):
    chats = [span(0, 0, **used(1000, 1, 640), **ANTHROPIC)]
    adding = write(otlp(*chats, scope="opentelemetry.instrumentation.anthropic"))
    assert open_trace(adding).prompt_tokens.tolist() == [1000]
    doubted = open_trace(write(otlp(*chats)))
    assert doubted.prompt_tokens.tolist() == [1640]
    assert any("say --cached-tokens inside" in note for note in doubted.notes)


@pytest.mark.parametrize("name", ["gen_ai.request.model", "lora_name"])
def test_models_and_adapters_of_a_resource_keep_prompts_apart(write, name):
    def on(value, at):
        document = otlp(span(at, at, **{"gen_ai.prompt": "Which river?"}))
        named = [{"key": k, "value": typed(v)} for k, v in ((name, value), ("zone", "z"))]
        document["resourceSpans"][0]["resource"] = {"attributes": named}
        return document

    apart = write(on("a", 1), on("b", 2), on("a", 3))
    trace = open_trace(apart, tokenizer="bytes")
    assert "not used: `resource.attributes.zone` (3 spans)" in trace.notes
    assert overlaps(trace).tolist() == [0, 0, trace.prompt_tokens[0]]


def test_the_answer_may_stand_as_text(write):
    question, answer = "Which river runs through Prague?", "The Vltava runs through Prague."
    asked = [{"role": "user", "content": question}]
    again = [*asked, {"role": "assistant", "content": answer}, {"role": "user", "content": "And?"}]

    def chat(number, messages, **answer):
        fields = {"gen_ai.input.messages": json.dumps(messages)} | answer
        return span(number, number * 10**9, **fields)

    def read(**answer):
        path = write(otlp(chat(0, asked, **answer)), otlp(chat(1, again, **answer)))
        return open_trace(path, tokenizer="bytes")

    as_text = read(**{"gen_ai.output.text": answer})
    as_messages = read(
        **{"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": answer}])}
    )
    assert as_text.output_tokens.tolist() == as_messages.output_tokens.tolist() == [len(answer)] * 2
    assert overlaps(as_text).tolist() == overlaps(as_messages).tolist()
    assert overlaps(as_text)[1] == as_text.prompt_tokens[0] + len(answer)
