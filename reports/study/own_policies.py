"""Doubts about the policies of one's own (module:Class) that a study names."""

from __future__ import annotations

from collections.abc import Iterator

from reports.study.settings import Settings
from simulator.base.errors import UsageError

_KINDS = ("placer", "eviction", "admission")


def doubts(settings: Settings) -> list[str]:
    """Return a line for each hook of a class of one's own that nobody calls.

    A policy that cannot be made says nothing here: that is an error, and told where it is made.
    """
    return list(dict.fromkeys(doubt for kind, spec in _own(settings) for doubt in _of(kind, spec)))


def _own(settings: Settings) -> Iterator[tuple[str, str]]:
    for kind in _KINDS:
        one, many = (settings.values.get(f"{at}policy.{kind}") for at in ("", "grid."))
        for spec in [one, *(many if isinstance(many, list) else [])]:
            if isinstance(spec, str) and ":" in spec:
                yield kind, spec


def _of(kind: str, spec: str) -> list[str]:
    from policies.registry import doubts_of

    try:
        return doubts_of(kind, spec)
    except UsageError:
        return []
