from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from workloads.inspection import end_only_savings, inspect, overlaps
from workloads.opening import open_trace

# file, block, tokens saved at best, by states at ends only, of prompt tokens
FILES = [
    ("mooncake/conversation_trace", 512, 54_098_293, 50_636_288, 144_793_823),
    ("mooncake/synthetic_trace", 512, 39_852_448, 31_135_744, 61_194_628),
    ("system_prompts/system_prompts", 16, 20_342_350, None, 21_317_812),
    ("leval_docqa/leval_quality", 16, 1_128_176, 0, None),
    ("leval_docqa/leval_multi_q", 16, 17_023_645, 3_232_320, None),
    ("tau_airline/tau_airline_gpt4o", 16, 6_931_514, 6_720_848, 7_474_167),
]


def naive(rows, block):
    """Overlaps by a set of ids, and the deepest earlier end by a set of floored ends."""
    seen, ends = set(), set()
    overlap, saved = [], []
    for row in rows:
        ids, length = row["hash_ids"], row["input_length"]
        deepest = end = 0
        for at, key in enumerate(ids):
            position = min((at + 1) * block, length)
            if key in seen:
                deepest = position
            if position <= length - 1 and key in ends:
                end = position
        seen.update(ids)
        if length >= block:
            ends.add(ids[length // block - 1])
        overlap.append(deepest)
        saved.append(end)
    return overlap, saved


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file[0])
def example(request, shared):
    name, block, *figures = request.param
    path = shared / "data" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    return rows, block, figures, open_trace(path, block=block)


def test_figures_of_real_traces_equal_those_of_a_naive_set_of_ids(example):
    rows, block, (ideal, end_only, prompt_tokens), trace = example
    overlap, saved = naive(rows, block)
    lengths = np.array([row["input_length"] for row in rows])
    assert overlaps(trace).tolist() == overlap
    assert end_only_savings(trace).tolist() == saved
    figures = inspect(trace)
    assert figures.ideal_saved_tokens == np.minimum(overlap, lengths - 1).sum() == ideal
    assert figures.end_only_saved_tokens == sum(saved)
    assert end_only in {None, sum(saved)}
    assert figures.prompt_tokens == lengths.sum()
    assert prompt_tokens in {None, figures.prompt_tokens}


def test_overlaps_agree_to_the_block_with_those_that_the_file_carries(example):
    rows, block, _, trace = example
    if "overlap_tokens" not in rows[0]:
        assert block == 512, "only the Mooncake files carry none"
        return
    carried = np.array([row["overlap_tokens"] for row in rows])
    overlap = overlaps(trace)
    assert (overlap // block == carried // block).all()
    assert (overlap <= carried).all()
    ends = np.array([row["end_overlap_tokens"] for row in rows])
    usable = ends < [row["input_length"] for row in rows]  # else the last token is missing
    saved = end_only_savings(trace)
    assert (saved[usable] >= ends[usable] // block * block).all()
    assert (saved <= overlap).all()


def test_published_rates_are_met(example):
    _, _, _, trace = example
    rates = {
        "conversation_trace": (0.3736, 0.3497),
        "synthetic_trace": (0.6512, 0.5088),
        "system_prompts": (0.9542, None),
        "leval_quality": (0.9112, 0),
        "tau_airline_gpt4o": (None, 0.8992),
    }
    ideal, end_only = rates.get(trace.name, (None, None))
    figures = inspect(trace)
    assert ideal in {None, round(figures.ideal_token_hit_rate, 4)}
    assert end_only in {None, round(figures.end_only_token_hit_rate, 4)}


def test_a_hand_worked_trace(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [
        {"timestamp": 0, "input_length": 40, "output_length": 5, "hash_ids": [0, 1, 2]},
        {"timestamp": 0, "input_length": 48, "output_length": 0, "hash_ids": [0, 1, 3]},
        {"timestamp": 2000, "input_length": 40, "output_length": 1, "hash_ids": [0, 1, 2]},
        {"timestamp": 3000, "input_length": 32, "output_length": 2, "hash_ids": [0, 1]},
        {"timestamp": 3000, "input_length": 16, "output_length": 2, "hash_ids": [9]},
    ]
    rows[0]["label"] = rows[3]["label"] = "a"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    figures = inspect(open_trace(path, block=16)).as_json()
    # overlaps 0, 32, 40, 32, 0; the last token of a prompt is never saved
    assert figures["ideal_saved_tokens"] == 0 + 32 + 39 + 31 + 0
    assert figures["ideal_token_hit_rate"] == 102 / 176
    # ends at 32 (of 40) and 48: usable by the second and third, one token too late for the fourth
    assert figures["end_only_saved_tokens"] == 0 + 32 + 32 + 0 + 0
    assert figures["distinct_depths"] == 2
    assert figures["distinct_arrivals"] == 3
    assert figures["span_seconds"] == 3.0
    assert figures["output_tokens"] == 10
    assert figures["prompt_length"]["p50"] == 40
    assert figures["overlap"]["max"] == 40
    assert figures["labels"] == {"a": 2}
    assert figures["sessions"] is None
    assert figures["granularity"] == 16
    json.dumps(figures, allow_nan=False)


def test_a_trace_without_times_has_no_span(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"input_length": 1, "hash_ids": [0]}')
    figures = inspect(open_trace(path)).as_json()
    assert figures["span_seconds"] is None
    assert figures["distinct_arrivals"] is None
    assert figures["ideal_saved_tokens"] == 0


def test_an_answer_counts_for_the_prompts_after_it():
    # (1) answers (1, 2), which the second prompt continues.
    tree = PrefixTree(
        np.array([-1, 0, 1, 2], dtype=np.int32), np.array([0, 0, 1, 2]), np.array([0, 1, 2, 3])
    )
    empty = np.full(2, -1, dtype=np.int32)
    leaf, after = np.array([1, 3], dtype=np.int32), np.array([2, -1], dtype=np.int32)
    trace = Trace("t", tree, leaf, None, np.zeros(2, dtype=np.int64), empty, empty, after=after)
    assert trace.problem() is None
    assert overlaps(trace).tolist() == [0, 2]
    other = replace(trace, after=after[::-1].copy())
    assert other.problem() == "an answer does not continue its prompt"
