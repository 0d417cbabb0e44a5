"""Requests with questions of stated lengths behind one document, and runs of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.catalogue import open_profile
from policies.registry import create
from reports.results.positions.figures import Positions
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace

DOCUMENT = 4000


def questions(
    lengths: Sequence[int],
    label: Sequence[int] | None = None,
    labels: tuple[str, ...] = (),
    granularity: int = 1,
) -> Trace:
    """Return a trace in which each prompt is the document and a question of its own."""
    count = len(lengths)
    stops = [0, DOCUMENT, *(DOCUMENT + length for length in lengths)]
    return Trace(
        name="questions",
        tree=PrefixTree(
            np.array([-1, 0, *[1] * count], dtype=np.int32),
            np.array([0, 0, *[DOCUMENT] * count], dtype=np.int64),
            np.array(stops, dtype=np.int64),
        ),
        leaf=np.arange(2, count + 2, dtype=np.int32),
        arrival_seconds=None,
        output_tokens=np.zeros(count, dtype=np.int64),
        session=np.full(count, -1, dtype=np.int32),
        label=np.array(label or [-1] * count, dtype=np.int32),
        labels=labels,
        granularity=granularity,
    )


def scenario(placer: str, capacity_bytes: int | None = None, alignment: int = 1) -> Scenario:
    """Return an instant server with a placer."""
    return Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity_bytes,
        server="instant",
        alignment=alignment,
    )


def positions(
    placer: str, trace: Trace, alignment: int = 1, warmup_share: float = 0.0
) -> Positions:
    """Return where a placer stores the states of a trace in an unbounded cache."""
    how = scenario(placer, alignment=alignment)
    return Positions.of(placer, trace, how, simulate(trace, how), warmup_share, None)


def by_request(result: Result) -> list[list[int]]:
    """Return the positions that each request has stored."""
    ends = np.cumsum(result.columns["checkpoints_written"])
    return [part.tolist() for part in np.split(result.positions, ends[:-1])]
