"""Times far from 0 keep their last digit, whatever the format and the unit."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from workloads.export import export_mooncake
from workloads.opening import open_trace
from workloads.store import save
from workloads.validation import validate

OFFSETS_NS = [0, 1, 2, 5, 1000]
SECONDS = 1_700_000_000
LENGTHS = {"input_length": 40, "output_length": 3}


def dated(offset: int, zone: str = "Z") -> str:
    day = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=SECONDS)
    return f"{day:%Y-%m-%d %H:%M:%S}.{offset:09d}{zone}"


def number(offset: int, unit: str) -> str:
    """Return nanoseconds since 1970 as a decimal number of units."""
    places = {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit]
    digits = f"{SECONDS * 10**9 + offset}"
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"


def json_row(field: str, written: str, **others: object) -> str:
    return json.dumps(others | {field: "?"}).replace('"?"', written)


def mooncake(offset: int, unit: str) -> str:
    return json_row("timestamp", number(offset, unit), **LENGTHS, hash_ids=[1])


def span(start: dict[str, object]) -> dict[str, object]:
    counts = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 1}
    return {"attributes": counts, "trace_id": "t"} | start


def dynamo(offset: int) -> str:
    request = json_row("request_received_ms", number(offset, "ms"), input_tokens=9)
    kind = {"schema": "dynamo.request.trace.v1", "event_type": "request_end"}
    return json_row("request", request, **kind)


def tracelab_round(offset: int) -> str:
    events = [{"event_type": "user_message", "timestamp": dated(offset).replace(" ", "T")}]
    lengths = {"input_tokens_total": 5, "prefix_tokens": 0, "newly_append_tokens": 5}
    name = {"session_id": f"s{offset}", "output_tokens": 1}
    return json.dumps(lengths | name | {"timing_events": events})


def lines(row) -> str:
    return "".join(row(offset) + "\n" for offset in OFFSETS_NS)


CASES: dict[str, tuple[str, str, dict[str, str]]] = {
    "ns": ("mooncake", lines(lambda o: mooncake(o, "ns")), {"time_unit": "ns"}),
    "us": ("mooncake", lines(lambda o: mooncake(o, "us")), {"time_unit": "us"}),
    "ms": ("mooncake", lines(lambda o: mooncake(o, "ms")), {}),
    "s": ("mooncake", lines(lambda o: mooncake(o, "s")), {"time_unit": "s"}),
    "in quotes": (
        "mooncake",
        lines(lambda o: json.dumps(LENGTHS | {"timestamp": number(o, "ms"), "hash_ids": [1]})),
        {},
    ),
    "aiperf": ("aiperf", lines(lambda o: json_row("timestamp", number(o, "ms"), **LENGTHS)), {}),
    "bailian": (
        "bailian",
        lines(
            lambda o: json_row(
                "timestamp",
                number(o, "s"),
                **LENGTHS,
                chat_id=o,
                parent_chat_id=-1,
                hash_ids=[1, 2, 3],
            )
        ),
        {},
    ),
    "llmservingsim": (
        "llmservingsim",
        lines(lambda o: json_row("arrival_time_ns", number(o, "ns"), input_toks=9, output_toks=1)),
        {},
    ),
    "dynamo": ("dynamo", lines(dynamo), {}),
    "chat": (
        "chat",
        lines(
            lambda o: json_row(
                "created", number(o, "s"), messages=[{"role": "user", "content": "Hello"}]
            )
        ),
        {},
    ),
    "chat dates": (
        "chat",
        lines(
            lambda o: json.dumps(
                {"timestamp": dated(o), "messages": [{"role": "user", "content": "Hello"}]}
            )
        ),
        {},
    ),
    "prompts": (
        "prompts",
        lines(lambda o: json_row("created_at", number(o, "s"), prompt="Say it.")),
        {},
    ),
    "prompts csv": ("prompts", "prompt,time\n" + lines(lambda o: f"Hi,{number(o, 's')}"), {}),
    "azure": (
        "azure",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n" + lines(lambda o: f"{dated(o, '')},9,1"),
        {},
    ),
    "burstgpt": (
        "burstgpt",
        "Timestamp,Request tokens,Response tokens\n" + lines(lambda o: f"{number(o, 's')},9,1"),
        {},
    ),
    "splitwise": (
        "splitwise",
        "arrival_timestamp,prompt_size,token_size\n" + lines(lambda o: f"{number(o, 's')},9,1"),
        {},
    ),
    "vidur": (
        "vidur",
        "arrived_at,num_prefill_tokens,num_decode_tokens\n"
        + lines(lambda o: f"{number(o, 's')},9,1"),
        {},
    ),
    "tracelab": (
        "tracelab",
        "session_id,arrival_time,round_idx,prefix_len,input_len,output_len\n"
        + lines(lambda o: f"{o},{number(o, 'ms')},0,0,9,1"),
        {},
    ),
    "tracelab rounds": ("tracelab-rounds", lines(tracelab_round), {}),
    "kv-cache-tester": (
        "kv-cache-tester",
        json_row(
            "requests",
            "["
            + ", ".join(
                json_row("t", number(o, "s"), **{"in": 70, "out": 1, "hash_ids": [1]})
                for o in OFFSETS_NS
            )
            + "]",
            block_size=64,
        )
        + "\n",
        {},
    ),
    "otel": (
        "otel",
        json.dumps({"spans": [span({"start_time": dated(o)}) for o in OFFSETS_NS]}),
        {},
    ),
    "otlp": (
        "otel",
        json.dumps({"spans": [span({"startTimeUnixNano": number(o, "ns")}) for o in OFFSETS_NS]}),
        {},
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_nanoseconds_of_an_epoch_are_kept(tmp_path, case):
    name, text, options = CASES[case]
    path = tmp_path / "trace"
    path.write_text(text)
    trace = open_trace(path, format=name, **options)
    assert trace.arrival_seconds.tolist() == [offset / 1e9 for offset in OFFSETS_NS]


def test_they_are_kept_in_files_that_milepost_writes(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text(CASES["ns"][1])
    trace = open_trace(path, time_unit="ns")
    save(trace, tmp_path / "saved.parquet")
    export_mooncake(trace, tmp_path / "exported.jsonl")
    for copy in ("saved.parquet", "exported.jsonl"):
        assert (open_trace(tmp_path / copy).arrival_seconds == trace.arrival_seconds).all()
    assert '"timestamp":0.000005,' in (tmp_path / "exported.jsonl").read_text()


def test_what_seconds_cannot_tell_apart_is_noted(tmp_path):
    path = tmp_path / "trace.jsonl"
    year = 366 * 86400 * 10**9
    rows = [mooncake(offset, "ns") for offset in (0, year, year + 1)]
    path.write_text("\n".join(rows))
    trace = open_trace(path, time_unit="ns")
    assert np.diff(trace.arrival_seconds)[1] == 0
    assert [note for note in trace.notes if "rounded to equal times" in note]
    anomalies = {a.what: (a.count, a.first_line) for a in validate(path, time_unit="ns")}
    assert anomalies["rounded-times"] == (1, 3)
    assert "equal-times" not in anomalies


def test_what_is_exact_has_no_such_note(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text(CASES["ns"][1])
    assert not [n for n in open_trace(path, time_unit="ns").notes if "rounded" in n]
