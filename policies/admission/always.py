"""Admit everything."""

from __future__ import annotations

from typing import ClassVar

from simulator.entry import Entry
from simulator.world import World


class Always:
    """Admit every KV run and every checkpoint that fits."""

    always: ClassVar[bool] = True
    clairvoyant: ClassVar[bool] = False

    def begin(self, world: World) -> None:
        """Need to know nothing."""

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Say yes."""
        del candidate, size_bytes, victim
        return True
