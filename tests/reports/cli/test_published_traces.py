"""The table of the reference data, row by row, from `milepost trace inspect --json`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reports.cli.conftest import Milepost

# file, block, requests, mean prompt, mean output, share saved at best, by states at ends only
BY_BLOCK = [
    ("mooncake/conversation_trace", 512, 12_031, 12_035, 343, 0.374, 0.350),
    ("mooncake/synthetic_trace", 512, 3_993, 15_325, 149, 0.651, 0.509),
    ("kv_cache_tester/sessions_rle", None, 49_334, 122_379, 440, 0.963, 0.957),
]
# the table counts these to the token, from fields that the files carry
BY_TOKEN = [
    ("system_prompts/system_prompts", 16, 5_760, 3_701, 0, 0.956, 0.003),
    ("leval_docqa/leval_quality", 16, 202, 6_129, 15, 0.912, 0.0),
    ("leval_docqa/leval_multi_q", 16, 1_920, 10_417, 45, 0.852, 0.077),
    ("tau_airline/tau_airline_gpt4o", 16, 2_454, 3_046, 71, 0.930, 0.896),
]


def inspected(milepost: Milepost, shared: Path, name: str, block: int | None) -> Any:
    flags = () if block is None else ("--block", block)
    ended = milepost("trace", "inspect", shared / "data" / f"{name}.jsonl.gz", *flags, "--json")
    assert ended.code == 0
    return ended.json


@pytest.mark.parametrize("row", BY_BLOCK, ids=lambda row: row[0])
def test_figures_of_traces_of_blocks_are_those_of_the_table(
    milepost: Milepost, shared: Path, row: tuple[Any, ...]
) -> None:
    name, block, requests, prompt, output, ideal, end_only = row
    inspection = inspected(milepost, shared, name, block)
    assert inspection["requests"] == requests
    assert round(inspection["prompt_length"]["mean"]) == prompt
    assert round(inspection["output_length"]["mean"]) == output
    assert round(inspection["ideal_token_hit_rate"], 3) == ideal
    assert round(inspection["end_only_token_hit_rate"], 3) == end_only


@pytest.mark.parametrize("row", BY_TOKEN, ids=lambda row: row[0])
def test_figures_of_traces_of_tokens_are_those_of_the_table_to_the_block(
    milepost: Milepost, shared: Path, row: tuple[Any, ...]
) -> None:
    name, block, requests, prompt, output, ideal, end_only = row
    inspection = inspected(milepost, shared, name, block)
    assert inspection["requests"] == requests
    assert round(inspection["prompt_length"]["mean"]) == prompt
    assert round(inspection["output_length"]["mean"]) == output
    sentence = f"{ideal:.3f} of the prompt tokens were seen before, {end_only:.3f} as whole"
    assert any(sentence in note for note in inspection["notes"])
    carried = columns(shared, name)
    total = carried["input_length"].sum()
    # what the table says is what the files carry, and a trace of blocks is less by part of a block
    assert round(carried["overlap_tokens"].sum() / total, 3) == ideal
    assert round(carried["end_overlap_tokens"].sum() / total, 3) == end_only
    missing = carried["overlap_tokens"].sum() - inspection["ideal_saved_tokens"]
    assert 0 <= missing <= (block - 1) * requests
    # states at ends are floored to the block, where more prompts meet than at the token
    floored = carried["end_overlap_tokens"] // block * block
    usable = carried["end_overlap_tokens"] < carried["input_length"]
    assert inspection["end_only_saved_tokens"] >= floored[usable].sum()


def columns(shared: Path, name: str) -> dict[str, Any]:
    with gzip.open(shared / "data" / f"{name}.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    fields = ("input_length", "overlap_tokens", "end_overlap_tokens")
    return {field: np.array([row[field] for row in rows]) for field in fields}
