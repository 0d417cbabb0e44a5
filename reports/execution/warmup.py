"""`study.warmup = "auto"`: how many requests MSER-5 cuts, one share for all that share a workload.

Each scenario is replayed once more, in its first replication, to see where its series settle: the
saved share of each prompt, and the times to first token. The largest cut of a workload, over
policies, capacities, profiles and both series, is that of all its cells, so that they count the
same requests and their differences stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.artifacts.journal import CellOutcome
from reports.statistics import MOST_WARMUP_SHARE, mser5
from reports.study.cells import Cell, cell_of
from reports.study.sections import AUTO, ResolvedStudy
from reports.study.traces import trace_key
from simulator.results.records import FINISHED

if TYPE_CHECKING:
    from simulator.results.result import Result

_STEPS = 1000


def settled_at(result: Result) -> int:
    """Return the requests that are warm-up by MSER-5, the larger cut of hit rate and TTFT."""
    rows = result.columns
    saved = rows["saved_tokens"] / np.maximum(rows["prompt_tokens"], 1)
    finished = np.flatnonzero(rows["status"] == FINISHED)
    waits = mser5(rows["ttft_seconds"][finished])
    return max(mser5(saved), int(finished[waits]) if waits else 0)


def share_of(requests: int, whole: int) -> float:
    """Return the share that cuts at least so many requests, in steps of a thousandth."""
    return min(math.ceil(_STEPS * requests / max(whole, 1)) / _STEPS, MOST_WARMUP_SHARE)


def with_share(study: ResolvedStudy, share: float) -> ResolvedStudy:
    """Return the study with a stated warm-up."""
    return study.model_copy(update={"study": study.study.model_copy(update={"warmup": share})})


def asks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells whose series are looked at: the first replication where it is "auto"."""
    return [cell for cell in cells if cell.study.study.warmup == AUTO and not cell.replication]


def shares_of_workloads(outcomes: Sequence[tuple[Cell, CellOutcome]]) -> dict[str, float]:
    """Return the share of each workload, by `workload_of`; 0 where every cell failed."""
    shares: dict[str, float] = {}
    for cell, outcome in outcomes:
        metrics = outcome.metrics or {"warmup_requests": 0, "requests": 1}
        share = share_of(metrics["warmup_requests"], metrics["requests"])
        key = workload_of(cell)
        shares[key] = max(share, shares.get(key, 0.0))
    return shares


def settled(cells: Sequence[Cell], shares: Mapping[str, float]) -> list[Cell]:
    """Return the cells with the share of their workload stated."""
    return [
        cell_of(
            with_share(cell.study, shares[workload_of(cell)]),
            cell.choice,
            cell.replication,
            cell.seed,
        )
        for cell in cells
    ]


def workload_of(cell: Cell) -> str:
    """Return the key of the workload of a cell's first replication."""
    return trace_key(cell.study, cell.study.study.seed)


def settle(
    cells: Sequence[Cell], look: Callable[[list[Cell]], list[tuple[Cell, CellOutcome]]]
) -> list[Cell]:
    """Return the cells with every warm-up stated; `look` replays those that are to be seen."""
    seen = asks(cells)
    return settled(cells, shares_of_workloads(look(seen))) if seen else list(cells)


def seen_metrics(result: Result) -> dict[str, Any]:
    """Return what is kept of a replay that was made to see where it settles."""
    return {"warmup_requests": settled_at(result), "requests": len(result.columns["status"])}
