"""Hit tokens against a public simulator of block caches, at every budget.

Its rules: 512-token blocks, states free and everywhere, the second half of the requests counts.
"""

from __future__ import annotations

import gzip
import heapq
import json
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policies.objects import ObjectStream, replay
from policies.registry import create
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from tests.simulator.prompts import toy_profile, trace_of
from workloads.prefixes.interning import intern_blocks

BLOCK, COUNTED_FROM = 512, 5000


@cache
def reference(folder):
    with gzip.open(folder / "moon10k.jsonl.gz", "rt") as lines:
        rows = [json.loads(line)["hash_ids"] for line in lines if line.strip()]
    figures = json.loads((folder / "moon10k_kvcache_simulator.json").read_text())
    hits = {
        point["cacheBlocks"]: {
            name: result["hitTokens"] for name, result in point["results"].items()
        }
        for point in figures["points"]
    }
    return rows, hits


@cache
def block_trace(folder):
    rows, _ = reference(folder)
    offsets = np.cumsum([0, *map(len, rows)])
    keys = np.concatenate(rows).astype(np.uint64)
    interned = intern_blocks(keys, offsets, np.diff(offsets) * BLOCK, BLOCK)
    unknown = np.full(len(rows), -1, dtype=np.int32)
    nothing = np.zeros(len(rows), dtype=np.int64)
    return Trace(
        "blocks",
        interned.tree,
        interned.leaf,
        None,
        nothing,
        unknown,
        unknown,
        granularity=BLOCK,
    )


def saved_tokens(folder, eviction, blocks, cut="tail"):
    scenario = Scenario(
        profile=toy_profile(page_tokens=BLOCK),
        placer=lambda: create("placer", "dense"),
        eviction=lambda: create("eviction", eviction),
        admission=lambda: create("admission", "always"),
        capacity_bytes=blocks * BLOCK,
        server="instant",
        cut=cut,
    )
    result = simulate(block_trace(folder), scenario)
    return int(result.columns["saved_tokens"][COUNTED_FROM:].sum())


@pytest.fixture
def folder(shared):
    return shared / "reference" / "block_cache"


@pytest.mark.parametrize("blocks", [14, 28, 56, 113, 227, 455, 910, 1820, 3640, 7281])
def test_lru_is_exact(folder, blocks):
    assert saved_tokens(folder, "lru", blocks, "block") == reference(folder)[1][blocks]["lru"]


@pytest.mark.parametrize("blocks", [28, 113, 910])
def test_only_prompts_that_are_too_large_are_cut_by_a_block(folder, blocks):
    assert saved_tokens(folder, "lru", blocks) == reference(folder)[1][blocks]["lru"]


@pytest.mark.parametrize("blocks", [14, 28, 56, 113, 227, 455, 910, 1820, 3640, 7281])
def test_clairvoyant_eviction_is_exact(folder, blocks):
    assert saved_tokens(folder, "clairvoyant", blocks) == reference(folder)[1][blocks]["optimal"]


def test_fifo_is_exact_over_plain_blocks(folder):
    """The reference's FIFO is blind to the tree: blocks leave in order of arrival, inner ones too.

    A hit is the leading run of resident blocks; what lies behind a hole stays, and is of no use.
    """
    rows, hits = reference(folder)
    stream = ObjectStream.of(np.concatenate(rows), np.ones(sum(map(len, rows)), dtype=np.int64))
    offsets = np.cumsum([0, *map(len, rows)])
    starts, ends = offsets[:-1], offsets[1:]
    for blocks, expected in hits.items():
        hit = replay(stream, create("eviction", "fifo"), blocks).hit
        misses = np.append(np.flatnonzero(~hit), len(hit))
        first_miss = misses[np.searchsorted(misses, starts)]
        leading = np.minimum(first_miss, ends) - starts
        assert leading[COUNTED_FROM:].sum() * BLOCK == expected["fifo"]


def test_fifo_and_lru_agree_where_every_prompt_ends_anew(folder):
    """Only leaves can go, and a prompt that uses a path adds a leaf to it: its age is that use."""
    assert saved_tokens(folder, "fifo", 227) == saved_tokens(folder, "lru", 227)


def test_at_the_least_budget_the_reference_lets_a_request_evict_what_it_has_just_brought(folder):
    """So a prompt too large for the cache leaves one block less than fits; with "tail" all."""
    rows, hits = reference(folder)
    assert leaf_lru(rows, 14, protects_new=False) == hits[14]["lru"]
    assert leaf_lru(rows, 14, protects_new=True) == saved_tokens(folder, "lru", 14)


@given(
    prompts=st.lists(st.lists(st.integers(0, 1), max_size=7), min_size=1, max_size=25),
    capacity=st.integers(1, 12),
    cut=st.sampled_from(["tail", "block"]),
)
@example(prompts=[[1, 0]] * 3, capacity=2, cut="block")  # the last page of a run in use
def test_both_ways_agree_with_plain_code_on_random_prompts(prompts, capacity, cut):
    whole = [(*prompt, 2 + number) for number, prompt in enumerate(prompts)]  # each ends anew
    rows = [[prompt[: end + 1] for end in range(len(prompt))] for prompt in whole]
    scenario = Scenario(
        profile=toy_profile(),
        placer=lambda: create("placer", "dense"),
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity,
        cut=cut,
        server="instant",
        check_every_request=True,
    )
    saved = simulate(trace_of(whole), scenario).columns["saved_tokens"].sum()
    plain = leaf_lru(rows, capacity, protects_new=cut == "tail", counted_from=0)
    assert saved * BLOCK == plain


def leaf_lru(rows, capacity, protects_new, counted_from=COUNTED_FROM):
    """Return the hit tokens of LRU among leaves, block by block."""
    used, parent, children, heap, clock, hits = {}, {}, {}, [], 0, 0
    for number, row in enumerate(rows):
        known = next((k for k, block in enumerate(row) if block not in used), len(row))
        hits += known * (number >= counted_from)
        for block in row[:known]:
            clock += 1
            used[block] = clock
            heapq.heappush(heap, (clock, block))
        protected, aside = set(row if protects_new else row[:known]), []
        above = row[known - 1] if known else None
        for block in row[known:]:
            while len(used) >= capacity and heap:
                last, victim = heapq.heappop(heap)
                if used.get(victim) != last or children.get(victim):
                    continue
                if victim in protected:
                    aside.append((last, victim))
                    continue
                del used[victim]
                if (higher := parent[victim]) is not None:
                    children[higher] -= 1
                    heapq.heappush(heap, (used[higher], higher))
            if len(used) >= capacity or (above is not None and above not in used):
                break
            clock += 1
            used[block], parent[block] = clock, above
            heapq.heappush(heap, (clock, block))
            if above is not None:
                children[above] = children.get(above, 0) + 1
            above = block
        for item in aside:
            heapq.heappush(heap, item)
    return hits * BLOCK
