"""Admission of KV that a state can make use of."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class UnifiedAdmission(BaseAdmission):
    """Admit states, and KV up to the deepest state that is wanted.

    KV behind the last state of its path saves nothing: whoever stores a state there has computed
    it again. What the KV before a state costs is part of the price of that state, which the placer
    `unified` has weighed already.

    Source: this project; docs/placement.md proves it.

    Examples
    --------
    A state is stored after every fourth token, and no KV behind the last of them:

    >>> from policies.tryout import serve
    >>> serve(["abcdef"], placer="block:size=4", admission="unified").kv
    ['abcd']
    >>> serve(["abcdef"], placer="block:size=4").kv
    ['abcdef']
    """

    always: ClassVar[bool] = True
    stores_bare_kv: ClassVar[bool] = False

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Admit it."""
        return True
