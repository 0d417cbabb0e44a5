"""Defaults for placers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window
from simulator.plugins.retention import evenly_retained


class BasePlacer(ABC):
    """Base class of placers: by default one that neither looks ahead nor learns from overlaps."""

    clairvoyant: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    observes: ClassVar[bool] = False
    source: ClassVar[str] = ""

    @abstractmethod
    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return wanted positions: ascending, unique, within `(prefix.resume, prompt_tokens]`."""

    def begin(self, context: CacheContext) -> None:
        """Read the context before the first request; by default nothing."""
        return

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Choose what stays under a cap: what was just wanted, then what leaves even gaps.

        Parameters are those of `simulator.plugins.protocols.Retaining`.
        """
        return evenly_retained(states, wanted, most, _length(prefix, states, wanted))

    def observe(self, overlap: Overlap) -> None:
        """Learn from a request that was served; by default nothing."""
        return


def _length(prefix: Prefix, *positions: Sequence[int]) -> int:
    """Return the length of the prompt, or the deepest of ascending positions beyond its end."""
    return max(prefix.prompt_tokens, *(each[-1] for each in positions if each))
