"""Generation of a twin from statistics and a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import NO_SESSION, Trace
from workloads.randomness import stream
from workloads.twin.boxes import Boxes, draw
from workloads.twin.choice import PlaceChoice
from workloads.twin.growth import GrowingPrompts
from workloads.twin.meetings import COLD, MEETINGS
from workloads.twin.places import MeetingPlace, Places, Wanted
from workloads.twin.stats import (
    MOST_REQUESTS,
    SLICES,
    ArrivalInstants,
    Session,
    TwinStats,
    as_boxes,
)

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

RECENT = 64  # recent requests from which a session other than the source's is picked


def generate(stats: TwinStats, seed: int, requests: int | None = None) -> Trace:
    """Generate a twin; the same statistics and seed give the same trace.

    Parameters
    ----------
    stats
        Statistics of the original.
    seed
        Seed of all random streams.
    requests
        Number of requests; None for as many as in the original.

    Raises
    ------
    UsageError
        For a seed or a number of requests out of range.
    """
    count = stats.requests if requests is None else requests
    if not 1 <= count <= MOST_REQUESTS:
        raise UsageError(f"requests: expected 1 to {MOST_REQUESTS:,}, found {count:,}")
    kind, rows = _draw_rows(as_boxes(stats.boxes), count, seed, "twin")
    answered = (
        stream(seed, "twin answers").random(count)
        < np.array([kind.answered for kind in stats.kinds])[kind]
    )
    growth, order = _grow(stats, kind, rows, answered, seed)
    kind, rows, answered = kind[order], rows[order], answered[order]
    tree, renamed = growth.tree()
    return Trace(
        name="twin",
        tree=tree,
        leaf=renamed[growth.leaf],
        arrival_seconds=_arrivals(stats.arrivals, count, seed),
        output_tokens=rows[:, 7],
        session=np.array(growth.session, dtype=np.int32),
        label=np.array([kind.label for kind in stats.kinds], dtype=np.int32)[kind],
        labels=stats.labels,
        granularity=stats.granularity,
        after=np.where(answered, renamed[growth.after], -1).astype(np.int32)
        if answered.any()
        else None,
        notes=(f"a synthetic twin of a trace of {stats.requests:,} requests, seed {seed}",),
    )


def _draw_rows(boxes: Boxes, count: int, seed: int, purpose: str) -> tuple[Int64, Int64]:
    """Draw a box and a row for each of `count` requests or instants, slice by slice.

    A box contributes equally to all slices that it extends over. Draws are stratified: among n
    draws of a slice or a box, each n-th of the unit interval holds exactly one (Latin hypercube
    sampling, McKay et al., Technometrics 21(2), 1979), so that totals vary less with the seed.
    """
    random = stream(seed, purpose)
    slices = np.arange(count, dtype=np.int64) * SLICES // count
    first, last = boxes.low[:, 0], boxes.high[:, 0]
    density = boxes.rows / (last - first + 1)
    picked = np.empty(count, dtype=np.int64)
    for part in np.unique(slices):
        weights = np.where((first <= part) & (part <= last), density, 0.0)
        if not weights.any():  # a slice of a short trace may have no request
            weights = density
        steps = np.cumsum(weights)
        those = slices == part
        uniform = _stratified(np.zeros(int(those.sum()), dtype=np.int64), random)
        picked[those] = np.searchsorted(steps[:-1], uniform * steps[-1], side="right")
    uniform = np.column_stack([_stratified(picked, random) for _ in range(boxes.low.shape[1])])
    return boxes.group[picked], draw(boxes, picked, uniform)


def _stratified(group: Int64, random: np.random.Generator) -> Float64:
    """Return uniform numbers, stratified within each group.

    In a group of n, each n-th of [0, 1) holds exactly one number.
    """
    order = np.lexsort((random.random(len(group)), group))
    _, start, size = np.unique(group[order], return_index=True, return_counts=True)
    uniform = np.empty(len(group))
    rank = np.arange(len(group)) - np.repeat(start, size)
    uniform[order] = (rank + random.random(len(group))) / np.repeat(size, size)
    return uniform


def _grow(
    stats: TwinStats, kind: Int64, rows: Int64, answered: NDArray[np.bool_], seed: int
) -> tuple[GrowingPrompts, list[int]]:
    """Add the prompts one by one to a prefix tree; return it and the order of the rows used."""
    growth = GrowingPrompts(len(rows), stats.granularity)
    places = Places(growth, stats.scale_tokens)
    sessions = _Sessions(growth.session, stream(seed, "twin sessions"))
    new, answer = rows[:, 6].tolist(), np.where(answered, rows[:, 7], 0).tolist()
    relations = [stats.kinds[number].session for number in kind.tolist()]
    wanted = _wanted(stats, kind, rows)
    warm = PlaceChoice(wanted, places, growth, stats.scale_tokens)
    order = []
    for at, one in enumerate(wanted):
        row, place = (at, MeetingPlace()) if one is None else warm.next()
        added = new[row]
        node = places.take(place, added) if place.request >= 0 else ROOT
        if node == ROOT:
            added = max(added, 1)
        growth.add(node, added, answer[row], sessions.next(relations[row], place.request))
        places.note(node)
        order.append(row)
    return growth, order


def _wanted(stats: TwinStats, kind: Int64, rows: Int64) -> list[Wanted | None]:
    """Return the overlap that each row should have, None for no overlap."""
    kinds = [(MEETINGS.index(kind.meeting), kind.session == "source's") for kind in stats.kinds]
    granularity, wanted = stats.granularity, []
    for number, row in zip(kind.tolist(), rows.tolist(), strict=True):
        _, distance, depth, own, fresh, beyond, _, _ = row
        meeting, goes_on = kinds[number]
        depth = max(1, round(depth / granularity)) * granularity
        cold = meeting == COLD
        wanted.append(
            None if cold else Wanted(meeting, distance, depth, own, fresh, beyond, goes_on)
        )
    return wanted


class _Sessions:
    """Assignment of sessions: none, a new one, that of the source or of a recent request.

    The source of a request is the last request that used the prefix up to the end of its overlap.
    """

    def __init__(self, given: list[int], random: np.random.Generator) -> None:
        self._given = given
        self._random = random
        self._used = 0

    def next(self, relation: Session, source: int) -> int:
        """Return the session of the next request."""
        if relation == "none":
            return NO_SESSION
        back = int(self._random.integers(1, RECENT + 1))
        session = NO_SESSION
        if relation == "source's" and source >= 0:
            session = self._given[source]
        elif relation == "other" and back <= len(self._given):
            session = self._given[-back]
        if session == NO_SESSION:
            session = self._used
            self._used += 1
        return session


def _arrivals(law: ArrivalInstants | None, count: int, seed: int) -> Float64 | None:
    """Return ascending arrival times in seconds from 0; several requests may share one."""
    if law is None:
        return None
    _, rows = _draw_rows(as_boxes(law.boxes), count, seed, "twin arrivals")
    requests, ticks = np.maximum(rows[:, 1], 1), np.maximum(rows[:, 2], 1)
    needed = int(np.searchsorted(np.cumsum(requests), count)) + 1
    # Slices are shares of the instants, so there are as many draws as instants.
    _, rows = _draw_rows(as_boxes(law.boxes), needed, seed, "twin arrivals")
    requests, ticks = np.maximum(rows[:, 1], 1), np.maximum(rows[:, 2], 1)
    instants = np.concatenate([[0.0], np.cumsum(ticks[:-1]) * law.tick_seconds])
    return np.repeat(instants, requests)[:count]
