"""NVIDIA Dynamo's request trace (`dynamo.request.trace.v1`): JSON lines of events.

Source: the request tracing of ai-dynamo/dynamo, whose frontend writes one `request_end` event for
each request, plain or inside an `event` object, in one file or in numbered shards. Times are
milliseconds since 1970. `replay` has the block size, the prompt length, and for each block (a
partial last one too) a rolling hash that identifies the whole prefix.

- Other events (tools, payloads) are ignored. A request arrives at the time it was received.
- A request without `replay` has only its length (`input_tokens`) and matches nothing. One whose
  `input_tokens` contradict `replay` is refused, as by Dynamo's own readers.
- Missing output tokens count as 0, which is also valid (a request that was cancelled early).
- Shards may differ in block size: rows of different sizes share nothing.
- The session is that of `agent_context`, where a sub-agent has its own; the label is the model.
- In a folder, all files that end in .jsonl or .jsonl.gz are read, in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import MISSING, Problem, output_problem, prompt_problem, time_problem
from workloads.reading.files import names_in
from workloads.reading.head import read_head
from workloads.reading.id_blocks import IdBlocks
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows

SCHEMA = "dynamo.request.trace.v1"
PASSED_OVER = frozenset({"request_payload", "tool_start", "tool_end", "tool_error"})
SUFFIXES = (".jsonl", ".jsonl.gz")

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Replay(msgspec.Struct, gc=False):
    trace_block_size: int
    input_length: int
    input_sequence_hashes: list[int | str]


class _Request(msgspec.Struct, gc=False):
    request_received_ms: Decimal
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: Name | None = None
    replay: _Replay | None = None


class _Agent(msgspec.Struct, gc=False):
    session_id: Name


class _Event(msgspec.Struct, gc=False):
    schema: Name | None = None
    event_type: Name | None = None
    request: _Request | None = None
    agent_context: _Agent | None = None


class _Line(_Event, gc=False):
    event: _Event | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file, or the shards in a folder."""
    blocks = IdBlocks(1, size_field="request.replay.trace_block_size")
    rows = Rows(blocks.keys, options.on_bad_line, options.ticks_per_second("ms"))

    def take(line: _Line, number: int) -> Problem | None:
        event: _Event = line.event or line
        if event.schema != SCHEMA:
            return "schema", f"expected {SCHEMA}"
        if event.event_type in PASSED_OVER:
            return None
        if event.event_type != "request_end":
            return "event_type", "expected request_end, request_payload or an event of a tool"
        return _take(event, number, rows, blocks)

    shards = [path / name for name in shard_names(names_in(path))] if path.is_dir() else [path]
    for shard in shards:
        read_json_lines(shard, rows, _Line, take)
    if not len(rows) and not rows.bad_lines:
        raise DataError(str(path), "expected a request_end event, found none")
    return blocks.give_to(rows)


def shard_names(names: Iterable[str]) -> list[str]:
    """Return the names with a suffix of trace shards."""
    return [name for name in names if name.endswith(SUFFIXES)]


def _take(event: _Event, number: int, rows: Rows, blocks: IdBlocks) -> Problem | None:
    request = event.request
    if request is None:
        return "request", MISSING
    replay = request.replay or _without_hashes(request)
    if replay is None:
        return "request.replay", MISSING
    time, output = request.request_received_ms, request.output_tokens or 0
    problem = _problem(request, replay, rows.ticks_per_second) or blocks.add(
        "request.replay.input_sequence_hashes",
        replay.input_sequence_hashes,
        replay.input_length,
        replay.trace_block_size,
    )
    if problem is not None:
        return problem
    if request.replay is None:
        rows.note("no-hashes", number, "a request without replay matches nothing")
    if request.output_tokens is None:
        rows.note("missing-output", number, "the output is unknown and counts as 0")
    session = None if event.agent_context is None else event.agent_context.session_id
    rows.add(number, replay.input_length, output, time, session, request.model)
    return None


def _without_hashes(request: _Request) -> _Replay | None:
    """Return a prompt of known length without block hashes, None if its length is unknown."""
    return None if request.input_tokens is None else _Replay(1, request.input_tokens, [])


def _problem(request: _Request, replay: _Replay, ticks_per_second: float) -> Problem | None:
    length, other = replay.input_length, request.input_tokens
    if other is not None and other != length:
        return "request.input_tokens", f"expected that of replay, {length}, found {other}"
    return (
        prompt_problem("request.replay.input_length", length)
        or output_problem("request.output_tokens", request.output_tokens or 0)
        or time_problem(
            "request.request_received_ms", request.request_received_ms, ticks_per_second
        )
    )


def matches(head: Head) -> bool:
    """Return whether an event names the schema, in the file or in a folder's first shard."""
    if head.names:
        shards = shard_names(head.names)
        return bool(shards) and matches(read_head(head.path / shards[0]))
    record = head.record or {}
    event = record.get("event", record)
    return isinstance(event, dict) and event.get("schema") == SCHEMA


DYNAMO = TraceFormat(
    name="dynamo",
    title="Dynamo request trace v1: events with milliseconds and hashes of prefixes, or shards",
    read=read,
    matches=matches,
    options=frozenset({"time_unit"}),
    not_needed={
        "*.request_id": "requests are told apart by their line",
        "*.event_time_unix_ms": "when the event was written; a request arrives when received",
        "timestamp": "when the event was written; a request arrives when received",
        "*.tool": "events of tools are passed over",
    },
)
