"""The best possible: what no policy can exceed at a capacity, over the requests that count.

Without a warm-up it is the bound of policies/placement/holding.py. With one, the first W requests
do not count, but what they leave in the cache does. A request r behind them resumes at c. Where
c was last passed at or behind W, `best_holding` of the requests from W on knows that choice. Where
it was last passed before, replace c by the deepest position c' that a prefill since W has passed:
a state that took up room at c from before W until r stands for one at c' since then, so that the
room still suffices, and no more is lost than what the prompts before W add to the overlap of r.
Hence, over the requests from W on,

    saved tokens <= bound of those requests alone + what the warm-up adds to their overlaps.

The tokens beyond c' that no prompt since W has passed are other tokens for each r, and their KV
lay in the cache when W began: what is added is also at most capacity / kv_bytes_per_token, and
what the grid cuts off c'. The bound is never more than that of all requests, nor than the ideal.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reports.traces import counted_from, open_stored
from simulator.grid import Grid
from simulator.records import FINISHED
from simulator.world import Sizes

if TYPE_CHECKING:
    from simulator.result import Result
    from simulator.simulation import Scenario
    from simulator.trace import Trace

Int64 = NDArray[np.int64]
ROUNDING_TOKENS = 1e-3  # of a sum of float64


def bound_saved_tokens(trace: Trace, scenario: Scenario, warmup_share: float = 0.0) -> int | None:
    """Return the tokens that no placer, admission and eviction policy can exceed.

    None where the trace knows answers: what they save is not in the bound. It holds where every
    request is served, one after another; and not for a placer whose states are free.

    Parameters
    ----------
    trace, scenario
        As `simulate` takes them; the policies do not matter.
    warmup_share
        The first requests that do not count, as a share of all.
    """
    first = counted_from(len(trace), warmup_share)
    return _bound(trace, *_room(trace, scenario), first)


def stored_bound(path: Path, scenario: Scenario, warmup_share: float) -> int | None:
    """Return the same for a stored workload, once for all policies that a worker is given."""
    trace = open_stored(path)
    first = counted_from(len(trace), warmup_share)
    return _stored_bound(path, *_room(trace, scenario), first)


def all_served(result: Result) -> bool:
    """Return whether every request was served, those of the warm-up included."""
    return bool((result.columns["status"] == FINISHED).all())


def _room(trace: Trace, scenario: Scenario) -> tuple[Grid, Sizes, int | None]:
    """Return what the bound depends on, besides the requests."""
    profile = scenario.profile
    alignment = profile.alignment if scenario.alignment is None else scenario.alignment
    sizes = Sizes(profile.kv_bytes_per_token, profile.state_bytes, profile.page_tokens)
    return Grid(trace.granularity, alignment), sizes, scenario.capacity_bytes


@lru_cache(maxsize=256)
def _stored_bound(
    path: Path, grid: Grid, sizes: Sizes, capacity_bytes: int | None, first: int
) -> int | None:
    return _bound(open_stored(path), grid, sizes, capacity_bytes, first)


def _bound(
    trace: Trace, grid: Grid, sizes: Sizes, capacity_bytes: int | None, first: int
) -> int | None:
    from policies.placement.holding import best_holding

    if trace.after is not None:
        return None
    bound = best_holding(trace, grid, sizes, capacity_bytes).bound_tokens
    if first:
        counted = _from(trace, first)
        bound = min(
            bound,
            best_holding(counted, grid, sizes, capacity_bytes).bound_tokens
            + _left_behind(trace, counted, grid, sizes, capacity_bytes),
            float(_floored(_reach(trace)[first:], grid).sum()),
        )
    return int(bound + ROUNDING_TOKENS)


def _left_behind(
    trace: Trace, counted: Trace, grid: Grid, sizes: Sizes, capacity_bytes: int | None
) -> int:
    """Return the most tokens that the warm-up can add to what the counted requests save."""
    reach, alone = _reach(trace)[-len(counted) :], _reach(counted)
    all_seen, seen_since = _floored(reach, grid), _floored(alone, grid)
    added = int((all_seen - seen_since).sum())
    if capacity_bytes is None or not sizes.kv_bytes_per_token:
        return added
    cut_off = int((alone - seen_since)[all_seen > seen_since].sum())
    return min(added, capacity_bytes // sizes.kv_bytes_per_token + cut_off)


def _from(trace: Trace, first: int) -> Trace:
    """Return the requests from `first` on, over the same tree."""
    names = ("leaf", "output_tokens", "session", "label")
    columns = {name: getattr(trace, name)[first:] for name in names}
    return replace(trace, arrival_seconds=None, **columns)


def _reach(trace: Trace) -> Int64:
    """Return the overlap of each request, its last token left out: int64, tokens."""
    from workloads.inspection import overlaps

    return np.minimum(overlaps(trace), trace.prompt_tokens - 1)


def _floored(positions: Int64, grid: Grid) -> Int64:
    return np.array([grid.floor(position) for position in positions.tolist()], dtype=np.int64)
