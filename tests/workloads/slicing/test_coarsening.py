from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.inspection.small_traces import requests, token_lists, trace_of
from tests.workloads.slicing.shapes import shape, shared_tokens
from workloads.export import export_mooncake
from workloads.inspection.overlaps import overlaps
from workloads.opening import open_trace
from workloads.slicing.coarsening import coarsened
from workloads.synthetic import SyntheticSpec, generate


@given(st.lists(token_lists, min_size=1, max_size=10), st.integers(1, 4))
def test_prompts_share_whole_blocks_unless_they_are_equal(
    prompts: list[list[int]], block: int
) -> None:
    fine = trace_of(prompts)
    coarse = coarsened(fine, block)
    assert coarse.problem() is None
    assert coarse.granularity == block
    assert coarse.prompt_tokens.tolist() == fine.prompt_tokens.tolist()
    for one, other in combinations(range(len(prompts)), 2):
        shared = shared_tokens(fine, fine.leaf[one], fine.leaf[other])
        expected = shared if prompts[one] == prompts[other] else shared - shared % block
        assert shared_tokens(coarse, coarse.leaf[one], coarse.leaf[other]) == expected


@given(requests, st.integers(1, 4))
def test_answers_share_whole_blocks_too(rows: list, block: int) -> None:
    prompts, answers, _ = (list(column) for column in zip(*rows, strict=True))
    fine = trace_of(prompts, answers)
    coarse = coarsened(fine, block)
    assert coarse.problem() is None
    if fine.after is None:
        assert coarse.after is None
        return
    assert coarse.after is not None
    assert (coarse.after >= 0).tolist() == (fine.after >= 0).tolist()
    both = np.flatnonzero(fine.after >= 0)
    for one, other in combinations(both.tolist(), 2):
        ends = fine.after[one], fine.after[other]
        shared = shared_tokens(fine, *ends)
        expected = shared if ends[0] == ends[1] else shared - shared % block
        tokens = shared_tokens(coarse, coarse.after[one], coarse.after[other])
        assert tokens == expected


def test_the_finest_block_changes_nothing() -> None:
    trace = trace_of([[1, 2], [1, 3], [1, 2, 4]], [[5], [], [6]])
    assert shape(coarsened(trace, 1)) == shape(trace)


@pytest.mark.parametrize("block", [16, 512])
def test_it_is_what_blocks_in_a_file_would_have_told(block: int, tmp_path: Path) -> None:
    fine = generate(SyntheticSpec(seed=2, requests=150))
    export_mooncake(fine, tmp_path / "t.jsonl", block=block)
    read = open_trace(tmp_path / "t.jsonl", format="mooncake", block=block)
    coarse = coarsened(replace(fine, after=None), block)  # which the file does not hold
    assert overlaps(coarse).tolist() == overlaps(read).tolist()
