"""Checks for capacities too small to use: an error if no KV fits, a note if no state fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reports.study.scenario import profile_named
from reports.study.sections import ResolvedStudy
from simulator.base.errors import UsageError
from simulator.base.units import BARE, format_bytes


def page_bytes(study: ResolvedStudy) -> int:
    """Return the bytes of one page of KV, the smallest unit that a cache can keep."""
    profile = profile_named(study.model.profile)
    return profile.page_tokens * profile.kv_bytes_per_token


def states_bytes(study: ResolvedStudy) -> int | None:
    """Return the bytes reserved for states; None where states and KV share the capacity."""
    from simulator.cache.layout import parse_pools

    split = parse_pools(study.cache.pools)
    if split is None:
        return None
    return split.states_bytes(profile_named(study.model.profile).state_bytes)


def least_useful_bytes(study: ResolvedStudy) -> int:
    """Return the bytes of one KV page and one state, below which no prefix can be reused.

    Where pools are split, the whole pool of states counts instead of one state.
    """
    kept = states_bytes(study)
    return max(1, page_bytes(study) + (_state_bytes(study) if kept is None else kept))


def _state_bytes(study: ResolvedStudy) -> int:
    """Return the bytes of one state, or 0 for a placer whose states cost no memory."""
    from policies.registry import create

    free = bool(getattr(create("placer", study.policy.placer), "implicit", False))
    return 0 if free else profile_named(study.model.profile).state_bytes


def refuse_too_small(
    study: ResolvedStudy, capacity_bytes: int | None, stated: Any, place: str
) -> None:
    """Refuse a capacity smaller than one page of KV; 0 (no cache) is allowed.

    Parameters
    ----------
    study
        The study, whose cost profile gives the size of a page.
    capacity_bytes
        The capacity to check; None is unbounded.
    stated
        The capacity as it was written.
    place
        The place where it was written, for messages.

    Raises
    ------
    UsageError
        With what was probably meant, for a number without a unit.
    """
    page = page_bytes(study)
    if capacity_bytes is None or not 0 < capacity_bytes < page:
        return
    bare = BARE.fullmatch(str(stated))
    hint = f"; did you mean '{str(stated).strip()} GiB'?" if bare else ""
    raise UsageError(
        f"{place}: {capacity_bytes:,} bytes do not hold one page of KV, which takes "
        f"{format_bytes(page)} with profile {study.model.profile}{hint} (0 is no cache)"
    )


def refuse_states_beyond(study: ResolvedStudy, capacity_bytes: int | None, place: str) -> None:
    """Refuse a capacity that is smaller than the memory reserved for states.

    Raises
    ------
    UsageError
        With both.
    """
    if not holds_states(study, capacity_bytes):
        raise UsageError(
            f"{place}: {format_bytes(capacity_bytes or 0)} are less than the states alone take "
            f"with cache.pools = '{study.cache.pools}', {format_bytes(states_bytes(study) or 0)}"
        )


def holds_states(study: ResolvedStudy, capacity_bytes: int | None) -> bool:
    """Whether a capacity (None: unbounded) is at least the memory reserved for states."""
    return capacity_bytes is None or capacity_bytes >= (states_bytes(study) or 0)


def small_capacities(studies: Iterable[ResolvedStudy]) -> list[str]:
    """Return one note for each capacity in which no state fits."""
    notes = (small_note(study) for study in studies)
    return list(dict.fromkeys(note for note in notes if note is not None))


def small_note(study: ResolvedStudy) -> str | None:
    """Return a note on a capacity in which no state fits; None where one does."""
    capacity, kept = study.cache.capacity, states_bytes(study)
    page, state = page_bytes(study), _state_bytes(study)
    if kept is not None and kept < state:
        return (
            f"pools {study.cache.pools}: the {format_bytes(kept)} for states do not hold one "
            f"({format_bytes(state)}): nothing can be saved"
        )
    if capacity is None or capacity >= least_useful_bytes(study):
        return None
    if capacity == 0:
        return "capacity 0: there is no cache, so nothing can be saved"
    if kept is not None:
        return (
            f"capacity {format_bytes(capacity)} leaves {format_bytes(capacity - kept)} beside the "
            f"states of pools {study.cache.pools}, no page of KV ({format_bytes(page)}): nothing "
            "can be saved"
        )
    return (
        f"capacity {format_bytes(capacity)} does not hold one state ({format_bytes(state)}) and a "
        f"page of KV before it ({format_bytes(page)}): nothing can be saved"
    )
