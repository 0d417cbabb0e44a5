"""The queue server agrees with an oracle of events and token tuples in every column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.eviction import EVICTION
from simulator.costs.schema import CheckpointCost, Io, Link
from simulator.plugins.context import SPAN, TAIL
from simulator.results.records import COUNT_COLUMNS, TIME_COLUMNS
from tests.simulator.cache.naive_cache import NaiveCache
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile
from tests.simulator.replays import replay
from tests.simulator.serving.naive_server import CUT_SECONDS, RESTORE_SECONDS, NaiveServer

PROMPT = st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple)


def whole_seconds(profile):
    """Return the profile with restores and cuts that take whole seconds."""
    return replace(
        profile,
        io=Io(d2d=Link(latency_us=RESTORE_SECONDS * 1e6, gbps=1e12)),
        checkpoint=CheckpointCost(cut_overhead=CUT_SECONDS * 1e6, snapshot_us_per_mib=0.0),
    )


@settings(max_examples=300)
@given(
    requests=st.lists(st.tuples(PROMPT, st.integers(0, 6)), min_size=1, max_size=14),
    wanted=st.lists(st.integers(1, 9), max_size=4, unique=True),
    end=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 50)),
    state_bytes=st.integers(1, 12),
    kv_bytes=st.integers(1, 3),
    page=st.integers(1, 3),
    grid=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    eviction=st.sampled_from(["lru", "fifo"]),
    cut=st.sampled_from([TAIL, SPAN]),
    queue_limit=st.one_of(st.none(), st.integers(0, 5)),
    horizon=st.one_of(st.none(), st.integers(1, 60)),
)
def test_every_column_agrees(
    requests,
    wanted,
    end,
    capacity,
    state_bytes,
    kv_bytes,
    page,
    grid,
    eviction,
    cut,
    queue_limit,
    horizon,
):
    prompts = [prompt for prompt, _ in requests]
    arrivals = np.cumsum([gap for _, gap in requests]).astype(float).tolist()
    result = replay(
        prompts,
        arrivals,
        lambda: Wanted(*wanted, end=end),
        granularity=grid[0],
        profile=whole_seconds(toy_profile(kv_bytes, state_bytes, page, grid[1])),
        eviction=EVICTION[eviction],
        capacity_bytes=capacity,
        cut=cut,
        queue_limit=queue_limit,
        horizon_seconds=horizon,
    )

    def positions(prompt, resume):
        inside = {p for p in wanted if resume < p <= len(prompt)}
        return sorted(inside | ({len(prompt)} if end else set()))

    lru, whole = eviction == "lru", cut == SPAN
    cache = NaiveCache(
        positions, capacity, kv_bytes, state_bytes, page, grid, hits_count=lru, whole_spans=whole
    )
    server = NaiveServer(cache, queue_limit)
    rows = server.serve(prompts, arrivals, horizon)
    columns = [result.columns[name].tolist() for name in (*COUNT_COLUMNS, *TIME_COLUMNS)]
    assert [list(row) for row in zip(*columns, strict=True)] == [rows[i] for i in sorted(rows)]
    assert result.simulated_seconds == server.now
