"""Placers applied to a law (distribution) of overlap depths, without a trace or a cache."""

from __future__ import annotations

import numpy as np

from policies.placement import PLACERS
from policies.registry import canonical, create
from reports.place.law_file import DepthLaw
from simulator.base.errors import UsageError
from simulator.base.parameters import parameters_of
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Placer, Prefix, Window

MOST_POSITIONS = 1_000_000
LESSONS = 1_000
GOLDEN = (5**0.5 - 1) / 2


def with_budget(spec: str, budget: int) -> str:
    """Return the placer string with `budget` added, where the placer takes one and states none.

    Raises
    ------
    UsageError
        Where there is no such placer, or its parameters are wrong.
    """
    name, _, given = spec.partition(":")
    stated = {part.partition("=")[0].strip() for part in given.split(",")}
    if "budget" in stated or not takes_budget(name):
        return canonical("placer", spec)
    return canonical("placer", f"{name}:{given + ',' if given else ''}budget={budget}")


def own_budget(spec: str) -> int | None:
    """Return the budget that a placer string states, or None."""
    for part in spec.partition(":")[2].split(","):
        key, _, value = part.partition("=")
        if key.strip() == "budget" and value.strip().isdigit():
            return int(value)
    return None


def placed(spec: str, budget: int, law: DepthLaw, length: int) -> list[int]:
    """Return the positions at which a placer stores states of a prompt without earlier match.

    A placer that learns first observes 1,000 overlaps in the law's proportions, spread so evenly
    that any hundred in a row resemble the law.

    Raises
    ------
    UsageError
        Where the placer needs a trace, or wants more positions than can be shown.
    """
    name = spec.partition(":")[0]
    if not budget and takes_budget(name):
        return []
    bare = ",".join(p for p in spec.partition(":")[2].split(",") if p.partition("=")[0] != "budget")
    placer = create("placer", with_budget(f"{name}:{bare}" if bare else name, budget))
    if placer.clairvoyant:
        raise UsageError(f"placer '{spec}' looks ahead in a trace: use it with `milepost run`")
    if placer.implicit:
        return [int(depth) for depth in law.depths]  # stores every position; only these save
    if placer.observes:
        _teach(placer, law, length)
    span = KvSpan(KvSpan(None, 0, 0), 0, length)
    positions = placer.place(Prefix(length, 0, 0, 1, -1, -1, span), Window(0, length))
    if len(positions) > MOST_POSITIONS:
        raise UsageError(
            f"placer '{spec}' wants {len(positions):,} positions: at most {MOST_POSITIONS:,}"
        )
    return [int(position) for position in positions]


def _teach(placer: Placer, law: DepthLaw, length: int) -> None:
    depths = np.concatenate(([0], law.depths))
    reached = np.cumsum(np.concatenate(([law.misses], law.weights))) / law.total
    quantiles = (np.arange(LESSONS) + 0.5) * GOLDEN % 1.0
    for depth in depths[np.minimum(reached.searchsorted(quantiles), len(depths) - 1)].tolist():
        placer.observe(Overlap(depth, length))


def takes_budget(name: str) -> bool:
    """Return whether the registered placer of this name has a budget."""
    plugin = PLACERS.get(name)
    return plugin is not None and any(p.name == "budget" for p in parameters_of(plugin))
