"""What placers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window


class BasePlacer(ABC):
    """A placer that looks neither ahead nor at overlaps, unless it says so."""

    clairvoyant: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    observes: ClassVar[bool] = False
    source: ClassVar[str] = ""

    @abstractmethod
    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return wanted positions: ascending, unique, within `(prefix.resume, prompt_tokens]`."""

    def begin(self, context: CacheContext) -> None:
        """Need to know nothing."""
        return

    def observe(self, overlap: Overlap) -> None:
        """Learn nothing."""
        return
