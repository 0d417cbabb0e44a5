"""Capacities too small to be of use: refused where nothing fits, told where nothing is saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reports.study.scenario import profile_named
from reports.study.sections import ResolvedStudy
from simulator.base.errors import UsageError
from simulator.base.units import BARE, format_bytes


def page_bytes(study: ResolvedStudy) -> int:
    """Return what one page of KV takes: the least that a cache can keep."""
    profile = profile_named(study.model.profile)
    return profile.page_tokens * profile.kv_bytes_per_token


def states_bytes(study: ResolvedStudy) -> int | None:
    """Return what is kept apart for states; None where they share the capacity with KV."""
    from simulator.cache.layout import parse_pools

    split = parse_pools(study.cache.pools)
    if split is None:
        return None
    return split.states_bytes(profile_named(study.model.profile).state_bytes)


def least_useful_bytes(study: ResolvedStudy) -> int:
    """Return what one page of KV and one state take: with less, nothing can be saved.

    Where pools are split, all that is kept apart for states counts instead of one.
    """
    kept = states_bytes(study)
    return max(1, page_bytes(study) + (_state_bytes(study) if kept is None else kept))


def _state_bytes(study: ResolvedStudy) -> int:
    """Return what the placer has to store to save anything: a state, unless it has them free."""
    from policies.registry import create

    free = bool(getattr(create("placer", study.policy.placer), "implicit", False))
    return 0 if free else profile_named(study.model.profile).state_bytes


def refuse_too_small(
    study: ResolvedStudy, capacity_bytes: int | None, stated: Any, place: str
) -> None:
    """Refuse a capacity in which not even a page of KV fits; 0 is no cache, which may be meant.

    Parameters
    ----------
    study
        Whose profile tells what a page takes.
    capacity_bytes
        What is refused; None is unbounded.
    stated
        The same as it was written.
    place
        Where it was written.

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
    """Refuse a capacity that is less than what is kept apart for states.

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
    """Whether a capacity, None being unbounded, holds what is kept apart for states."""
    return capacity_bytes is None or capacity_bytes >= (states_bytes(study) or 0)


def small_capacities(studies: Iterable[ResolvedStudy]) -> list[str]:
    """Return what to say of the capacities in which no state fits, each once."""
    notes = (small_note(study) for study in studies)
    return list(dict.fromkeys(note for note in notes if note is not None))


def small_note(study: ResolvedStudy) -> str | None:
    """Return what to say of a capacity in which no state fits; None where one does."""
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
