"""`policy.all`: one setting for the placer, the eviction and the admission of a study."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from reports.study.settings import Settings
from simulator.base.errors import UsageError

ALL = "policy.all"
VARIED = f"grid.{ALL}"
FLAG = "--policy"
KINDS = ("placer", "eviction", "admission")
_PLACES = ("", "grid.")


def with_each_kind(settings: Settings) -> Settings:
    """Return the settings with `policy.all` replaced by a policy of each kind that it names.

    A kind that is set, or varied, by itself stays so.

    Raises
    ------
    UsageError
        Where there is no such policy.
    """
    from policies.joint import by_kind

    joint = settings.values.get(ALL)
    if not isinstance(joint, str) or VARIED in settings.values:  # refused later
        return settings
    try:
        named = by_kind(joint)
    except UsageError as error:
        origin = settings.origin(ALL)
        place = origin if origin == FLAG else f"{origin}: '{ALL}'"
        raise UsageError(f"{place}: {error}{settings.line(ALL)}") from error
    own = {f"policy.{kind}": spec for kind, spec in named.items() if not _stated(settings, kind)}
    spelled = {f"{place}{key}": f"{place}{ALL}" for key in own for place in _PLACES}
    lines = {key: settings.lines[it] for key, it in spelled.items() if it in settings.lines}
    return replace(
        settings,
        values={key: value for key, value in settings.values.items() if key != ALL} | own,
        origins=settings.origins | dict.fromkeys(own, settings.origin(ALL)),
        lines={**settings.lines, **lines},
        spelled={**settings.spelled, **spelled},
    )


def without_replaced_policies(settings: Settings, over: Collection[str]) -> Settings:
    """Return the settings without the study's policies in whose place `policy.all` comes.

    `over` are the keys that were laid over the study; what they set stays.
    """
    joint = [named for key in (ALL, VARIED) if key in over for named in policies_in(settings, key)]
    kinds = {kind for named in joint for kind in named}
    lost = {f"{place}policy.{kind}" for kind in kinds for place in _PLACES} - {*over}
    values = {key: value for key, value in settings.values.items() if key not in lost}
    return replace(settings, values=values)


def policies_in(settings: Settings, key: str = VARIED) -> list[dict[str, str]]:
    """Return the policies by kind that a setting names; what cannot be read is refused later."""
    value = settings.values.get(key)
    named = [_read(each) for each in (value if isinstance(value, list) else [value])]
    return [policies for policies in named if policies]


def varied_kinds(settings: Settings) -> list[str]:
    """Return the kinds of policies that a grid of `policy.all` varies."""
    kinds = {kind for named in policies_in(settings) for kind in named}
    return [kind for kind in KINDS if kind in kinds and not _stated(settings, kind)]


def _read(joint: Any) -> dict[str, str]:
    from policies.joint import by_kind

    try:
        return by_kind(joint) if isinstance(joint, str) else {}
    except UsageError:
        return {}


def _stated(settings: Settings, kind: str) -> bool:
    return any(f"{place}policy.{kind}" in settings.values for place in _PLACES)
