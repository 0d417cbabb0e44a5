"""The plans that a placer makes, request by request, as the law of overlaps drifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from policies.placement.optimal import Optimal
from reports.drift.laws import Int64
from simulator.base.errors import UsageError, printable
from simulator.base.parameters import create_named, parameters_of, read_values
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Law, Overlap, Prefix, Window

PLACER = "optimal"
_NOTHING = Law(np.empty(0, np.int64), np.empty(0))


class Followed(Optimal):
    """The placer `optimal`, which also tells the law that its plan in force was made for."""

    @property
    def planned_for(self) -> Law:
        """The law of the plan in force; empty while no overlap is known."""
        return self._first.law if self._first.known else _NOTHING


@dataclass(frozen=True, eq=False)
class Plans:
    """The plans of one placer over a sequence of requests.

    Parameters
    ----------
    starts
        int64, shape (plans,), ascending from 0: the first request for which each is in force.
    positions
        The positions of each: int64, ascending, unique.
    laws
        For each of the moments asked for, the law (distribution of overlaps) that the plan then in
        force was made for.
    """

    starts: Int64
    positions: tuple[Int64, ...]
    laws: tuple[Law, ...] = ()

    def at(self, request: int) -> Int64:
        """Return the positions in force for a request."""
        return self.positions[int(self.starts.searchsorted(request, side="right")) - 1]

    def saved_tokens(self, depths: Int64) -> Int64:
        """Return the tokens each request saves: the deepest position up to its overlap, or 0."""
        saved = np.empty(len(depths), np.int64)
        ends = np.append(self.starts[1:], len(depths))
        for start, end, positions in zip(self.starts, ends, self.positions, strict=True):
            saved[start:end] = reached(positions, depths[start:end])
        return saved

    @cached_property
    def rewritten(self) -> Int64:
        """Number of positions of each plan that the plan before it lacked; 0 for the first."""
        new = [
            len(np.setdiff1d(after, before, assume_unique=True))
            for before, after in zip(self.positions, self.positions[1:], strict=False)
        ]
        return np.array([0, *new], np.int64)


def reached(positions: Int64, depths: Int64) -> Int64:
    """Return for each depth the deepest position that is not deeper, 0 where there is none."""
    stops: Int64 = np.concatenate(([0], positions))
    return stops[stops.searchsorted(depths, side="right") - 1]


def parameters(spec: str) -> dict[str, int | float | str]:
    """Return the parameters of a placer given as a string.

    Raises
    ------
    UsageError
        Unless it is `optimal` with one law for all requests, counted from the start of the prompt.
    """
    name, _, given = (part.strip() for part in spec.partition(":"))
    if name != PLACER:
        raise UsageError(
            f"placer '{printable(spec)}': expected '{PLACER}:budget=...', whose estimators a drift "
            "study compares; milepost sweep replays any placer"
        )
    create_named("placer", {PLACER: Followed}, spec)
    values = read_values(parameters_of(Followed), given)
    for key, only in (("scope", "global"), ("coordinate", "start")):
        if values.get(key, only) != only:
            raise UsageError(
                f"placer '{printable(spec)}': {key}: expected {only}, as one law of "
                f"depths is looked at, found {values[key]}"
            )
    return values


def follow(spec: str, depths: Int64, moments: Sequence[int] = ()) -> Plans:
    """Return the plans of a placer that observes each overlap after the request was served.

    Parameters
    ----------
    spec
        The placer, as in "optimal:budget=8,window=100".
    depths
        Overlaps in tokens, in order, shape (requests,).
    moments
        Requests, ascending, before which the law of the plan in force is recorded.

    Raises
    ------
    UsageError
        If `parameters` raises it for the placer.
    """
    parameters(spec)
    placer = create_named("placer", {PLACER: Followed}, spec)
    length = max(int(depths.max()), 1)
    prefix = Prefix(length, 0, 0, 1, -1, -1, KvSpan(KvSpan(None, 0, 0), 0, length))
    whole = Window(0, length)
    starts, plans, laws = [0], [list(placer.place(prefix, whole))], []
    left = iter(moments)
    moment = next(left, None)
    for request, depth in enumerate(depths.tolist()):
        if request == moment:
            laws.append(placer.planned_for)
            moment = next(left, None)
        placer.observe(Overlap(depth, length))
        positions = placer.place(prefix, whole)
        if positions != plans[-1]:
            starts.append(request + 1)
            plans.append(list(positions))
    if starts[-1] == len(depths):
        del starts[-1], plans[-1]
    return Plans(np.array(starts), tuple(np.array(plan, np.int64) for plan in plans), tuple(laws))
