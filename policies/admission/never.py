"""Admit nothing."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class Never(BaseAdmission):
    """Admit nothing: every request is computed from its first token.

    Source: none; the floor that a cache is held against.
    """

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say no."""
        del candidate, size_bytes, departures
        return False
