"""Traces from prompts written out as tokens, by the plainest code that can make them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.costs.profile import Profile, parse_profile
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace

Prompt = tuple[int, ...]


def node_ends(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Return the prefixes at which prompts diverge or end, parents before children."""
    ends = set(prompts)
    for one in prompts:
        for other in prompts:
            shared = 0
            while shared < min(len(one), len(other)) and one[shared] == other[shared]:
                shared += 1
            ends.add(one[:shared])
    ends.discard(())
    return sorted(ends, key=lambda prefix: (len(prefix), prefix))


def trace_of(
    prompts: Sequence[Prompt],
    arrivals: Sequence[float] | None = None,
    granularity: int = 1,
    answers: Sequence[Prompt] | None = None,
) -> Trace:
    """Return the trace of `prompts`, in this order; `answers` are what each generates."""
    whole = [(*p, *a) for p, a in zip(prompts, answers, strict=True)] if answers else []
    ends = node_ends([*prompts, *whole])
    number = {(): 0} | {end: index for index, end in enumerate(ends, 1)}
    parents = [max((e for e in number if e == end[: len(e)] and e != end), key=len) for end in ends]
    count = len(prompts)
    return Trace(
        name="written out",
        tree=PrefixTree(
            np.array([-1] + [number[parent] for parent in parents], dtype=np.int32),
            np.array([0] + [len(parent) for parent in parents], dtype=np.int64),
            np.array([0] + [len(end) for end in ends], dtype=np.int64),
        ),
        leaf=np.array([number[prompt] for prompt in prompts], dtype=np.int32),
        arrival_seconds=None if arrivals is None else np.array(arrivals, dtype=np.float64),
        output_tokens=np.zeros(count, dtype=np.int64),
        session=np.full(count, -1, dtype=np.int32),
        label=np.full(count, -1, dtype=np.int32),
        granularity=granularity,
        after=np.array([number[end] for end in whole], dtype=np.int32) if answers else None,
    )


def toy_profile(
    kv_bytes: int = 1,
    state_bytes: int = 10,
    page_tokens: int = 1,
    alignment: int = 1,
    seconds_per_token: float = 1.0,
) -> Profile:
    """Return a profile of round numbers: F(n) = n x seconds_per_token, copies take no time."""
    data = {
        "schema_version": 1,
        "profile_id": "toy",
        "kind": "toy",
        "source": "round numbers",
        "licence": "none",
        "created": "2026-11-30",
        "hardware": {"name": "none"},
        "model": {"name": "toy"},
        "state": {
            "ssm_bytes": 0,
            "conv_bytes": 0,
            "bytes_per_checkpoint": state_bytes,
            "alignment": alignment,
        },
        "kv": {"bytes_per_token": kv_bytes, "block_tokens": page_tokens},
        "prefill": {
            "F": {"n": [1, 1000], "us": [1e6 * seconds_per_token, 1e9 * seconds_per_token]},
            "e_us_per_pair": 0.0,
            "valid": {"n_max": 1000, "c_max": 1000},
        },
        "checkpoint": {"cut_overhead": 0.0, "snapshot_us_per_mib": 0.0},
        "io": {"d2d": {"latency_us": 0.0, "gbps": 1e12}},
    }
    return parse_profile(data, "toy")
