"""Admit nothing."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from simulator.entry import Entry


class Never(BaseAdmission):
    """Admit nothing: every request is computed from its first token.

    Source: none; the floor that a cache is held against.
    """

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Say no."""
        del candidate, size_bytes, victim
        return False
