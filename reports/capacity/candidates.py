"""Candidates of a capacity search: all combinations of a study's grid except for the capacity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from policies.joint import names_of
from reports.capacity.search import GridLimits
from reports.results.marks import POLICIES, marks_of
from reports.study.capacities import (
    holds_states,
    least_useful_bytes,
    refuse_states_beyond,
    refuse_too_small,
    states_bytes,
)
from reports.study.cells import Cell, cell_of, expand
from reports.study.scenario import profile_named
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.study.traces import TraceFacts
from simulator.base.errors import UsageError, printable
from simulator.base.units import LARGEST_BYTES, format_bytes, parse_capacity

CAPACITY = "cache.capacity"
UNTIL = "study.until_ci"  # left out: a search uses the stated number of replications
LEFT_OUT = (CAPACITY, f"grid.{CAPACITY}", UNTIL)
MOST_CAPACITIES = 64
SAVES_ALL = {"placer": "dense", "eviction": "lru", "admission": "always"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One combination of settings, with its replications.

    Parameters
    ----------
    name
        The placer, and the other settings that vary.
    marks
        Reasons why it could not be deployed: it is an upper bound, or uses future requests.
    cells
        One simulation for each replication; their capacity is replaced later.
    """

    name: str
    marks: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def study(self) -> ResolvedStudy:
        """The study of its first replication."""
        return self.cells[0].study

    @property
    def drawn(self) -> bool:
        """Whether its replications differ by random draws of the costs."""
        return self.study.model.draws

    def fitting(self, sizes: Iterable[int]) -> list[int]:
        """Return the sizes at least as large as the memory reserved for states, ascending."""
        return sorted({size for size in sizes if holds_states(self.study, size)})

    def at(self, capacity_bytes: int) -> list[Cell]:
        """Return its cells with another capacity."""
        return [
            changed(cell, cache=cell.study.cache.model_copy(update={"capacity": capacity_bytes}))
            for cell in self.cells
        ]

    def saving_all(self) -> list[Cell]:
        """Return its cells with an unbounded cache that has a state at every position for free."""
        return [
            changed(
                cell,
                cache=cell.study.cache.model_copy(update={"capacity": None, "pools": "unified"}),
                policy=cell.study.policy.model_copy(update=SAVES_ALL),
            )
            for cell in self.cells
        ]


def changed(cell: Cell, **sections: Any) -> Cell:
    """Return a cell with some sections of its study replaced."""
    study = cell.study.model_copy(update=sections)
    return cell_of(study, cell.choice, cell.replication, cell.seed)


def candidates(
    settings: Settings,
) -> tuple[ResolvedStudy, list[Candidate], list[int | None]]:
    """Return the study, its candidates in the order of the grid, and the capacities that it states.

    The capacities are in bytes, ascending, with unbounded (None) last.

    Raises
    ------
    UsageError
        For any fault of the study; for a capacity that is invalid, stated twice, or too small for
        a candidate to keep anything; for an empty or too long list of capacities; and for a
        candidate that reserves more memory for states than the largest capacity.
    """
    key = f"grid.{CAPACITY}"
    place = f"{settings.origin(key)}: '{key}'"
    sizes = _stated_sizes(settings.values.get(key), place)
    values = {key: v for key, v in settings.values.items() if key not in LEFT_OUT}
    study, cells = expand(Settings(values, settings.origins))
    _ = study.study.warmup_share  # refuses "auto"
    grouped: dict[str, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(repr(cell.choice), []).append(cell)
    varied = [key for key in POLICIES if len({getattr(c.study.policy, key) for c in cells}) > 1]
    sought = [_candidate(tuple(group), varied) for group in grouped.values()]
    ascending = sorted(sizes, key=lambda size: (size is None, size))
    for candidate in sought:
        for size, value in sizes.items():
            refuse_too_small(candidate.study, size, value, place)
        if ascending:
            refuse_states_beyond(candidate.study, ascending[-1], place)
    return study, sought, ascending


def _stated_sizes(stated: Any, place: str) -> dict[int | None, Any]:
    """Return each stated capacity in bytes, with the value as written; empty if none is stated."""
    if stated is None:
        return {}
    if not (isinstance(stated, list) and 1 <= len(stated) <= MOST_CAPACITIES):
        shown = printable(repr(stated), limit=80)
        raise UsageError(f"{place}: expected a list of 1 to {MOST_CAPACITIES} sizes, found {shown}")
    sizes: dict[int | None, Any] = {}
    for value in stated:
        size = parse_capacity(value, place)
        if size in sizes:
            raise UsageError(f"{place}: {sizes[size]!r} and {value!r} are the same capacity")
        sizes[size] = value
    return sizes


def states_beyond(sought: Sequence[Candidate], stated: Sequence[int | None]) -> list[str]:
    """Return a line for each setting of pools with stated capacities that are too small for it."""
    lines = {}
    for study in (candidate.study for candidate in sought):
        small = [format_bytes(s) for s in stated if s is not None and not holds_states(study, s)]
        if small:
            lines[study.cache.pools, study.model.profile] = (
                f"pools {study.cache.pools}: {', '.join(small)} not tried, which the states alone "
                f"exceed ({format_bytes(states_bytes(study) or 0)})"
            )
    return [*lines.values()]


def coarse_grid(
    candidate: Candidate, facts: Sequence[TraceFacts], stated: Sequence[int | None]
) -> list[int]:
    """Return the capacities with which a search begins, in bytes, ascending.

    They are the stated ones. Without any, they are powers of two. The least holds one state, or all
    the memory reserved for states; the greatest holds the KV of every distinct prompt token and a
    state for each request. The greatest also replaces a stated "unbounded".
    """
    study = candidate.study
    states = states_bytes(study) or profile_named(study.model.profile).state_bytes
    least, most = states.bit_length(), _whole_bytes(candidate, facts).bit_length()
    bounded = candidate.fitting(size for size in stated if size is not None)
    if not stated:
        return [1 << power for power in range(least, max(least, most) + 1)]
    top = [1 << most] if None in stated and 1 << most > max(bounded, default=0) else []
    return bounded + top or [1 << least]  # for a variation whose states exceed all stated sizes


def ends_of(candidate: Candidate, facts: Sequence[TraceFacts]) -> GridLimits:
    """Return the limits to which the grid of a candidate may be extended.

    The least is one page of KV and one state. The most is a power of two that holds all KV and
    states that the traces can produce.
    """
    most = min(LARGEST_BYTES, 1 << _whole_bytes(candidate, facts).bit_length())
    return GridLimits(least_useful_bytes(candidate.study), most)


def _whole_bytes(candidate: Candidate, facts: Sequence[TraceFacts]) -> int:
    """Return the most bytes that the traces can fill, the largest over the traces.

    They are the KV of every distinct prompt token, and either the memory reserved for states or,
    without a reservation, one state for each request.
    """
    profile, kept = profile_named(candidate.study.model.profile), states_bytes(candidate.study)
    return max(
        trace.tree_tokens * profile.kv_bytes_per_token
        + (trace.requests * profile.state_bytes if kept is None else kept)
        for trace in facts
    )


def _candidate(group: tuple[Cell, ...], varied: Sequence[str]) -> Candidate:
    marks = marks_of(group[0].study.policy.model_dump())
    return Candidate(_name(group[0], varied), marks, group)


def _name(cell: Cell, varied: Sequence[str]) -> str:
    """Return a name such as "adaptive · gdsf · rate 5"."""
    kinds = ["placer", *(kind for kind in varied if kind != "placer")]
    names = names_of(cell.study.policy.model_dump(), kinds)
    others = {key: v for key, v in cell.choice.items() if not key.startswith("policy.")}
    names += [f"{key.rpartition('.')[2]} {value}" for key, value in others.items()]
    return " · ".join(names)
