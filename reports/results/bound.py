"""Upper bounds on the tokens that a cache of a given capacity can save after the warm-up.

Without a warm-up, the bound is that of policies/placement/holding.py. With a warm-up of W requests,
these requests do not count, but the cache contents that they leave do. Let a later request r
resume at position c, and consider the last earlier request that passed c with
its prompt or its answer:

- If it came at W or later, the bound of the requests from W on already covers this choice.
- If it came before W, replace c by c', the deepest position of r's prompt that a request since W
  has passed. The state at c occupied memory from before W until r, so there is also room for a
  state at c' since then. The replacement loses at most what the requests before W add to the
  overlap of r (its longest prefix shared with an earlier request).

Hence, over the requests from W on,

    saved tokens <= bound of those requests alone + what the warm-up adds to their overlaps.

The added term has a second limit. A token after c' that no request since W has passed is counted
for one request r only, and its KV was in the cache when request W stored its first token. So the
term is at most capacity / kv_bytes_per_token, plus the tokens lost where c' is rounded down to the
grid of resume positions. The bound never exceeds that of all requests, nor the saving of an ideal
cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reports.study.traces import counted_from, open_stored
from simulator.base.file_memory import remembered
from simulator.plugins.context import Sizes
from simulator.trace.grid import Grid

if TYPE_CHECKING:
    from policies.placement.holding import ResumeOptions
    from simulator.simulation import Scenario
    from simulator.trace.trace import Trace

Int64 = NDArray[np.int64]
ROUNDING_TOKENS = 1e-3  # of a sum of float64


def bound_saved_tokens(trace: Trace, scenario: Scenario, warmup_share: float = 0.0) -> int | None:
    """Return the tokens that no placer, admission and eviction policy can exceed.

    None where requests may store in another order than that of the trace: with several replicas, or
    a scheduler of one's own. It does not hold for a placer whose states are free.

    Parameters
    ----------
    trace, scenario
        As `simulate` takes them; the policies do not matter.
    warmup_share
        The share of all requests, from the first on, that are excluded from the bound.
    """
    if not _in_order(scenario):
        return None
    first = counted_from(len(trace), warmup_share)
    grid, sizes, capacity_bytes = _room(trace, scenario)
    return _basis(trace, grid, sizes, first).bound_tokens(capacity_bytes)


def stored_bound(path: Path, scenario: Scenario, warmup_share: float) -> int | None:
    """Return the same for a stored workload, once for all policies that a worker is given."""
    if not _in_order(scenario):
        return None
    trace = open_stored(path)
    first = counted_from(len(trace), warmup_share)
    return _stored_bound(path, *_room(trace, scenario), first)


def _in_order(scenario: Scenario) -> bool:
    """Return whether requests store in the order of the trace, as the bound assumes."""
    return scenario.replicas == 1 and isinstance(scenario.server, str)


def _room(trace: Trace, scenario: Scenario) -> tuple[Grid, Sizes, int | None]:
    """Return what the bound depends on, besides the requests."""
    profile = scenario.profile
    alignment = profile.alignment if scenario.alignment is None else scenario.alignment
    sizes = Sizes(profile.kv_bytes_per_token, profile.state_bytes, profile.page_tokens)
    return Grid(trace.granularity, alignment), sizes, scenario.capacity_bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Basis:
    """Data from which the bounds at all capacities are computed."""

    # where all requests could resume, and where those that count could if they were alone; None
    # where all count
    whole: ResumeOptions
    counted: ResumeOptions | None
    # what the warm-up adds to the overlaps of the requests that count, and what the grid cuts off
    # their own where it adds something
    added_tokens: int
    cut_off_tokens: int
    ideal_tokens: int  # the overlaps of the requests that count, on the grid
    kv_bytes_per_token: int

    def bound_tokens(self, capacity_bytes: int | None) -> int:
        """Return the most tokens that requests which count can save; None is unbounded."""
        bound = self.whole.holding(capacity_bytes).bound_tokens
        if self.counted is not None:
            alone = self.counted.holding(capacity_bytes).bound_tokens
            bound = min(bound, alone + self._left_behind(capacity_bytes), float(self.ideal_tokens))
        return int(bound + ROUNDING_TOKENS)

    def _left_behind(self, capacity_bytes: int | None) -> int:
        """Return the most tokens that the warm-up can add to what the counted requests save."""
        if capacity_bytes is None or not self.kv_bytes_per_token:
            return self.added_tokens
        held = capacity_bytes // self.kv_bytes_per_token
        return min(self.added_tokens, held + self.cut_off_tokens)


@remembered(maxsize=256, ours=True)
def _stored_bound(
    path: Path, grid: Grid, sizes: Sizes, capacity_bytes: int | None, first: int
) -> int:
    return _stored_basis(path, grid, sizes, first).bound_tokens(capacity_bytes)


@remembered(
    maxsize=8, ours=True
)  # small beside the traces; replications of a scenario follow one another
def _stored_basis(path: Path, grid: Grid, sizes: Sizes, first: int) -> _Basis:
    return _basis(open_stored(path), grid, sizes, first)


def _basis(trace: Trace, grid: Grid, sizes: Sizes, first: int) -> _Basis:
    """Return the data for bounds at all capacities."""
    from policies.placement.holding import ResumeOptions

    whole = ResumeOptions.of(trace, grid, sizes)
    if not first:
        return _Basis(whole, None, 0, 0, 0, sizes.kv_bytes_per_token)
    counted = _from(trace, first)
    reach, alone = _reach(trace)[first:], _reach(counted)
    all_seen, seen_since = _floored(reach, grid), _floored(alone, grid)
    return _Basis(
        whole,
        ResumeOptions.of(counted, grid, sizes),
        int((all_seen - seen_since).sum()),
        int((alone - seen_since)[all_seen > seen_since].sum()),
        int(all_seen.sum()),
        sizes.kv_bytes_per_token,
    )


def _from(trace: Trace, first: int) -> Trace:
    """Return the requests from `first` on, over the same tree."""
    names = ("leaf", "output_tokens", "session", "label")
    columns = {name: getattr(trace, name)[first:] for name in names}
    after = None if trace.after is None else trace.after[first:]
    return replace(trace, arrival_seconds=None, after=after, **columns)


def _reach(trace: Trace) -> Int64:
    """Return the overlap of each request, its last token left out: int64, tokens."""
    from workloads.inspection import overlaps

    return np.minimum(overlaps(trace), trace.prompt_tokens - 1)


def _floored(positions: Int64, grid: Grid) -> Int64:
    return np.array([grid.deepest(position) for position in positions.tolist()], dtype=np.int64)
