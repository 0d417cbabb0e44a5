"""Admission of nothing."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class Never(BaseAdmission):
    """Admit nothing: every request is computed from its first token.

    Source: none; a lower bound to compare caches with.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["abcd", "abcde"], admission="never")
    >>> served.kv, served.saved
    ([], [0, 0])
    """

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Return False."""
        del candidate, size_bytes, departures
        return False
