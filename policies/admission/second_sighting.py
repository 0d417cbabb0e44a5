"""Admission at the second sighting."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class SecondSighting(BaseAdmission):
    """Admit the KV and the states of a prefix that an earlier prompt has had.

    What is used once never costs a byte; what comes again costs a second prefill. The whole shared
    prefix is admitted at once, however many spans it has. Prompts that are matched at the same time
    do not count as earlier ones.

    Source: B. M. Maggs and R. K. Sitaraman, "Algorithmic nuggets in content delivery", ACM
    SIGCOMM Computer Communication Review 45(3), 2015 ("cache on second hit"); sightings are
    remembered in the prefix tree, without limit.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd"], admission="second_sighting").kv
    []
    >>> serve(["abcd", "abxy"], admission="second_sighting").kv  # what both share
    ['ab']
    >>> serve(["abcd"] * 2, admission="second_sighting").states
    ['abcd']
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self._seen_tokens = 0  # of the current prompt, by earlier ones

    def observe(self, overlap: Overlap) -> None:
        """Note how much of the prompt was seen before."""
        self._seen_tokens = overlap.depth

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether all tokens up to the end of the candidate were seen before."""
        del size_bytes, departures
        end = candidate.stop if isinstance(candidate, KvSpan) else candidate.position
        return end <= self._seen_tokens
