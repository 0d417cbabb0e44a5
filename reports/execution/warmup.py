"""Automatic choice of the warm-up (`study.warmup = "auto"`) by the rule MSER-5.

MSER-5 cuts the start of a series so that the standard error of the rest is least. Each scenario is
replayed once more, in its first replication, and the rule is applied to two series: the saved share
of each prompt, and the times to first token. All cells (simulations) of a workload use the largest
cut over its policies, capacities and profiles and both series. So they count the same requests, and
their differences stay paired.
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
    """Return the number of warm-up requests by MSER-5: the larger cut of hit rate and TTFT."""
    rows = result.columns
    saved = rows["saved_tokens"] / np.maximum(rows["prompt_tokens"], 1)
    finished = np.flatnonzero(rows["status"] == FINISHED)
    waits = mser5(rows["ttft_seconds"][finished])
    return max(mser5(saved), int(finished[waits]) if waits else 0)


def share_of(requests: int, whole: int) -> float:
    """Return the smallest share of `whole`, in steps of 0.001, with at least `requests` requests.

    It is at most `MOST_WARMUP_SHARE`.
    """
    return min(math.ceil(_STEPS * requests / max(whole, 1)) / _STEPS, MOST_WARMUP_SHARE)


def with_share(study: ResolvedStudy, share: float) -> ResolvedStudy:
    """Return the study with the given share as its warm-up."""
    return study.model_copy(update={"study": study.study.model_copy(update={"warmup": share})})


def asks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells to replay: first replications of studies whose warm-up is "auto"."""
    return [cell for cell in cells if cell.study.study.warmup == AUTO and not cell.replication]


def settle(
    cells: Sequence[Cell], look: Callable[[list[Cell]], list[tuple[Cell, CellOutcome]]]
) -> list[Cell]:
    """Return the cells with each automatic warm-up replaced by a share.

    `look` replays cells and returns them with their outcomes. If every replay of a workload fails,
    its share is 0.
    """
    shares: dict[str, float] = {}  # by the trace key of the workload's first replication
    seen = asks(cells)
    for cell, outcome in look(seen) if seen else ():
        metrics = outcome.metrics or {"warmup_requests": 0, "requests": 1}
        share = share_of(metrics["warmup_requests"], metrics["requests"])
        shares[cell.trace] = max(share, shares.get(cell.trace, 0.0))
    return [_settled(cell, shares) for cell in cells] if seen else list(cells)


def _settled(cell: Cell, shares: Mapping[str, float]) -> Cell:
    share = shares[trace_key(cell.study, cell.study.study.seed)]
    return cell_of(with_share(cell.study, share), cell.choice, cell.replication, cell.seed)


def seen_metrics(result: Result) -> dict[str, Any]:
    """Return the numbers kept of a replay for the warm-up: requests to cut, and all requests."""
    return {"warmup_requests": settled_at(result), "requests": len(result.columns["status"])}
