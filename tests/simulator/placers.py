"""The plainest placers, for tests of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window


class Wanted:
    """Wants the same positions in every prompt, as far as they are within reach."""

    clairvoyant: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    observes: ClassVar[bool] = True

    def __init__(self, *positions: int, end: bool = False) -> None:
        self.positions = positions
        self.end = end
        self.overlaps: list[Overlap] = []

    def begin(self, context: CacheContext) -> None:
        self.context = context

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        wanted = {p for p in self.positions if prefix.resume < p <= prefix.prompt_tokens}
        return sorted(wanted | ({prefix.prompt_tokens} if self.end else set()))

    def observe(self, overlap: Overlap) -> None:
        self.overlaps.append(overlap)


class Everywhere(Wanted):
    """Holds a state at every position."""

    implicit: ClassVar[bool] = True


class AtBranches(Wanted):
    """Wants the known branch points."""

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        return prefix.branch_points()


class AtTheEnd(Wanted):
    """Wants the end of the answer."""

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        return [prefix.end_tokens]
