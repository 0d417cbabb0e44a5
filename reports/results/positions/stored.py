"""States stored by the requests after the warm-up: tables by state and by request."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reports.results.positions.columns import KINDS
from reports.results.positions.forks import at_forks, floored
from simulator.results.records import FINISHED
from simulator.results.result import Result
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRequests:
    """Columns of the requests that finished, in tokens; int64, of one length."""

    # where the prompt ends, and where its answer does (the prompt, where that is unknown)
    prompt: Whole
    end: Whole
    # the tokens that were saved, and the depth to which KV was resident
    resume: Whole
    kv: Whole
    # where it diverged from all that had been seen: its overlap with what had been prefilled
    branch: Whole
    label: Whole  # its number in the trace, -1 where unknown

    def __len__(self) -> int:
        return len(self.prompt)

    def only(self, chosen: Whole) -> FinishedRequests:
        """Return some of them."""
        columns = (self.prompt, self.end, self.resume, self.kv, self.branch, self.label)
        return FinishedRequests(*(column[chosen] for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The states that requests have stored."""

    requests: FinishedRequests  # those that finished, whether or not they stored any
    row: Whole  # the row in `requests` of each state
    position: Whole  # where it lies, in tokens from the start
    forked: NDArray[np.bool_]  # whether prompts had been seen to diverge or to end there
    grid: Grid  # to which positions are floored

    def __len__(self) -> int:
        return len(self.position)

    @property
    def from_end(self) -> Whole:
        """Position less the end of the prompt, floored: negative before it."""
        return self.position - floored(self.grid, self.requests.prompt[self.row])

    @property
    def from_branch(self) -> Whole:
        """Position less the branch, floored: negative before it."""
        return self.position - floored(self.grid, self.requests.branch[self.row])

    def kinds(self) -> dict[str, NDArray[np.bool_]]:
        """Return which states are of each of KINDS; the first that fits holds."""
        answer = self.position > self.requests.prompt[self.row]
        end = ~answer & (self.from_end == 0)
        fork = ~answer & ~end & self.forked
        return dict(zip(KINDS, (end, fork, answer, ~(answer | end | fork)), strict=True))

    def where(self, chosen: NDArray[np.bool_]) -> Stored:
        """Return the states selected by a mask, with all the requests."""
        return replace(
            self,
            row=self.row[chosen],
            position=self.position[chosen],
            forked=self.forked[chosen],
        )


def stored_states(
    trace: Trace, result: Result, grid: Grid, seen: Whole, warmup_share: float = 0.0
) -> Stored:
    """Return the states that the requests after the warm-up have stored.

    `seen` is `forks_seen` of the trace.
    """
    columns = result.columns
    rows = len(columns["status"])
    counts = np.arange(rows) >= int(rows * warmup_share)
    finished = counts & (columns["status"] == FINISHED)
    of = np.repeat(np.arange(rows), columns["checkpoints_written"])
    kept = finished[of]
    request, position = columns["request"][of[kept]], result.positions[kept]
    return Stored(
        _requests(trace, {name: column[finished] for name, column in columns.items()}),
        (np.cumsum(finished) - 1)[of[kept]],
        position,
        at_forks(trace, seen, grid, request, position),
        grid,
    )


def _requests(trace: Trace, columns: dict[str, Whole]) -> FinishedRequests:
    prompt, overlap = columns["prompt_tokens"], columns["overlap_tokens"]
    end = prompt
    if trace.after is not None:
        after = trace.after[columns["request"]]
        end = np.where(after >= 0, trace.tree.stop[after], prompt)
    flying = columns["lost_in_flight_tokens"]  # not prefilled yet when it was matched
    done = overlap - columns["lost_last_token_tokens"] - flying
    return FinishedRequests(
        prompt.copy(),
        end.copy(),
        columns["saved_tokens"].copy(),
        columns["kv_tokens"].copy(),
        np.where(flying > 0, done, overlap),
        trace.label[columns["request"]].astype(np.int64),
    )
