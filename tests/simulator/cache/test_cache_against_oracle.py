"""The cache agrees with an oracle over token tuples, request by request, on random traces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.admission.always import Always
from policies.eviction import EVICTION
from simulator.plugins.context import SPAN, TAIL
from simulator.results.records import LOSSES
from tests.simulator.cache.naive_cache import NaiveCache
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile
from tests.simulator.replays import replay

TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple)
ANSWER = st.lists(st.integers(0, 1), max_size=5).map(tuple)
REQUESTS = st.lists(st.tuples(TOKENS, ANSWER), min_size=1, max_size=12)


class NoBareKv(Always):
    """Admits KV up to the deepest state that is wanted."""

    stores_bare_kv = False


@settings(max_examples=400)
@given(
    requests=REQUESTS,
    wanted=st.lists(st.integers(1, 10), max_size=4, unique=True),
    end=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 60)),
    state_bytes=st.integers(1, 12),
    kv_bytes=st.integers(1, 3),
    page=st.integers(1, 4),
    grid=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    eviction=st.sampled_from(["lru", "fifo"]),
    cut=st.sampled_from([TAIL, SPAN]),
    bare_kv=st.booleans(),
)
def test_every_request_agrees(
    requests, wanted, end, capacity, state_bytes, kv_bytes, page, grid, eviction, cut, bare_kv
):
    granularity, alignment = grid
    prompts, answers = zip(*requests, strict=True)
    result = replay(
        prompts,
        None,
        lambda: Wanted(*wanted, end=end),
        granularity=granularity,
        answers=answers,
        profile=toy_profile(kv_bytes, state_bytes, page, alignment),
        eviction=EVICTION[eviction],
        admission=Always if bare_kv else NoBareKv,
        capacity_bytes=capacity,
        cut=cut,
        server="instant",
    )

    def positions(prompt, resume):
        inside = {p for p in wanted if resume < p <= len(prompt)}
        return sorted(inside | ({len(prompt)} if end else set()))

    lru, whole = eviction == "lru", cut == SPAN
    oracle = NaiveCache(
        *(positions, capacity, kv_bytes, state_bytes, page, grid),
        hits_count=lru,
        whole_spans=whole,
        bare_kv=bare_kv,
    )
    rows = result.columns
    for request, (prompt, answer) in enumerate(requests):
        running = oracle.serve(prompt, answer)
        assert rows["saved_tokens"][request] == running.resume
        assert rows["kv_tokens"][request] == running.kv_depth
        assert rows["checkpoints_written"][request] == len(running.written)
        losses = [int(rows[f"lost_{loss}_tokens"][request]) for loss in LOSSES[:8]]
        assert losses == running.losses
        assert running.resume + sum(losses) == len(prompt)
        assert rows["kv_bytes"][request] == len(oracle.kv) * kv_bytes
        assert rows["checkpoints_resident"][request] == len(oracle.checkpoints)
