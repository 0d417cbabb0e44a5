"""Drift: ways in which the distribution of generated traffic changes over a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.base.errors import UsageError, printable
from simulator.base.parameters import create_named, name_of
from workloads.drift.base import Float64, Int64, MixDrift
from workloads.drift.births import Births
from workloads.drift.cycles import Cycles
from workloads.drift.growth import Growth
from workloads.drift.rewrites import Rewrites
from workloads.drift.shift import Shift
from workloads.spec import Spec

DRIFTS: dict[str, type[Spec]] = {
    "shift": Shift,
    "cycles": Cycles,
    "births": Births,
    "rewrites": Rewrites,
    "growth": Growth,
}

__all__ = ["DRIFTS", "Births", "Cycles", "Drift", "Growth", "MixDrift", "Rewrites", "Shift"]
__all__ += ["drift_name", "read_drift"]


@dataclass(frozen=True, slots=True)
class Drift:
    """The drifts of a trace, at most one of each kind; by default there is none.

    All methods take an array x of positions in the trace, as shares from 0 (start) to 1 (end), of
    shape (sessions,). A generator's shared texts end in a closing part, which `rewrites` changes.

    Parameters
    ----------
    mix
        Drift of the popularity of items (documents, system prompts).
    births
        Replacement of items by new ones.
    rewrites
        Rewriting of the closing part.
    growth
        Growth of lengths.
    """

    mix: MixDrift | None = None
    births: Births | None = None
    rewrites: Rewrites | None = None
    growth: Growth | None = None

    @property
    def generations(self) -> int:
        """The largest number of successive items that one popularity rank can have.

        Items are documents or system prompts.
        """
        return 1 if self.births is None else self.births.generations

    @property
    def versions(self) -> int:
        """The number of versions of the closing part."""
        return 1 if self.rewrites is None else self.rewrites.times + 1

    @property
    def moved(self) -> int:
        """Tokens that each version of the closing part adds."""
        return 0 if self.rewrites is None else self.rewrites.moved

    @property
    def lengths(self) -> int:
        """The number of lengths that one text takes over the trace, as texts grow."""
        return 1 if self.growth is None else self.growth.steps + 1

    def weight(self, x: Float64) -> Float64:
        """Return the weight of the second mix at x, from 0 to 1."""
        return np.zeros_like(x) if self.mix is None else self.mix.weight(x)

    def generation(self, x: Float64, phase: Float64) -> Int64:
        """Return which of a rank's successive items is in use at x, given the rank's phase."""
        return _zeros(x) if self.births is None else self.births.generation(x, phase)

    def version(self, x: Float64) -> Int64:
        """Return the version of the closing part at x."""
        return _zeros(x) if self.rewrites is None else self.rewrites.version(x)

    def step(self, x: Float64) -> Int64:
        """Return the step of growth at x."""
        return _zeros(x) if self.growth is None else self.growth.step(x)

    def scale(self, step: Int64) -> Float64:
        """Return the length of texts after `step` steps of growth, relative to their first."""
        return np.ones(np.shape(step)) if self.growth is None else self.growth.scale(step)


def read_drift(text: str) -> Drift:
    """Return the drift that a string describes: "shift:distance=0.3,at=0.5 + growth:factor=2".

    Raises
    ------
    UsageError
        If a part is unknown or out of range, or two parts are of the same kind.
    """
    by_way: dict[str, Any] = {}
    for part in text.split(" + ") if text.strip() else []:
        made = create_named("drift", DRIFTS, part)
        way = "mix" if isinstance(made, MixDrift) else type(made).__name__.lower()
        if way in by_way:
            raise UsageError(f"drift '{printable(text)}': expected one kind of {way}, found two")
        by_way[way] = made
    return Drift(**by_way)


def drift_name(drift: Drift) -> str:
    """Return the string that describes a drift, empty if there is none."""
    parts = (drift.mix, drift.births, drift.rewrites, drift.growth)
    return " + ".join(name_of(DRIFTS, part) for part in parts if part is not None)


def _zeros(x: Float64) -> Int64:
    return np.zeros(np.shape(x), dtype=np.int64)
