"""Admission of KV that a state can make use of."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class UnifiedAdmission(BaseAdmission):
    """Admit states, and KV up to the deepest state that is wanted: KV behind it saves nothing."""

    always: ClassVar[bool] = True
    stores_bare_kv: ClassVar[bool] = False

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Admit it."""
        return True
