"""Mooncake-style JSON lines: lengths, a time in milliseconds, and ids of prefixes.

Source: the traces released with Qin et al., "Mooncake", FAST 2025. Equal ids mean an equal
prefix up to and including that block; the last block may be partial.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from workloads.fields import (
    Problem,
    id_problem,
    output_problem,
    presence_problem,
    prompt_problem,
    time_problem,
)
from workloads.formats.format import Head, TraceFormat
from workloads.json_lines import read_json_lines
from workloads.options import ReadOptions
from workloads.prompts import MAX_KEYS, BlockKeys
from workloads.rows import Rows

BLOCK_TOKENS = 512

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Line(msgspec.Struct, gc=False):
    input_length: int
    hash_ids: list[int]
    output_length: int = 0
    timestamp: float | None = None
    session_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file with 512 tokens a block where the options do not say otherwise.

    Times must be on all lines or on none. A line may name fewer blocks than its prompt holds,
    not more.
    """
    prompts = BlockKeys(options.block or BLOCK_TOKENS)
    rows = Rows(prompts, options.on_bad_line, options.ticks_per_second("ms"))

    def take(line: _Line, number: int) -> Problem | None:
        problem = _problem(line, rows, prompts)
        if problem is not None:
            return problem
        try:
            prompts.add(line.hash_ids)
        except OverflowError:
            return id_problem("hash_ids", line.hash_ids)
        label = line.type if line.label is None else line.label
        rows.add(
            number, line.input_length, line.output_length, line.timestamp, line.session_id, label
        )
        return None

    return read_json_lines(path, rows, _Line, take)


def _problem(line: _Line, rows: Rows, prompts: BlockKeys) -> Problem | None:
    timed = bool(rows.time_ticks)
    return (
        prompt_problem("input_length", line.input_length)
        or output_problem("output_length", line.output_length)
        or _block_problem(line, prompts)
        or presence_problem("timestamp", line.timestamp, first=not len(rows), timed=timed)
        or time_problem("timestamp", line.timestamp, rows.ticks_per_second)
    )


def _block_problem(line: _Line, prompts: BlockKeys) -> Problem | None:
    length, block = line.input_length, prompts.block
    blocks = -(-length // block)
    if len(line.hash_ids) > blocks:
        fit = f"at most {blocks} for {length} tokens in blocks of {block}"
        return "hash_ids", f"expected {fit}, found {len(line.hash_ids)} (is the block size right?)"
    if len(prompts.keys) + len(line.hash_ids) > MAX_KEYS:
        return "hash_ids", f"expected at most {MAX_KEYS:,} ids in one file"
    return None


def matches(head: Head) -> bool:
    """Recognise lines of objects with lengths and ids."""
    return head.has("input_length", "hash_ids")


MOONCAKE = TraceFormat(
    name="mooncake",
    title="Mooncake JSON lines: lengths, milliseconds, ids of 512-token prefixes",
    read=read,
    matches=matches,
    options=frozenset({"block", "time_unit"}),
)
