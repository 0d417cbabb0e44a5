"""Admit what is seen again."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class SecondSighting(BaseAdmission):
    """Admit KV and states of tokens that an earlier prompt has had before them, all at once.

    What comes once never costs a byte, at the price of a second prefill of what comes again. How
    many spans the path has does not matter, nor whether its KV was admitted before: the second
    prompt through a token brings it in. Prompts matched together see nothing of each other.

    Source: B. M. Maggs and R. K. Sitaraman, "Algorithmic nuggets in content delivery", ACM
    SIGCOMM Computer Communication Review 45(3), 2015 ("cache on second hit"); the memory of
    sightings is that of the prefix tree, and has no limit.
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self._seen_tokens = 0  # of the current prompt, by earlier ones

    def observe(self, overlap: Overlap) -> None:
        """Learn how much of the prompt was seen before."""
        self._seen_tokens = overlap.depth

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether all tokens up to the end of the candidate were seen before."""
        del size_bytes, departures
        end = candidate.stop if isinstance(candidate, KvSpan) else candidate.position
        return end <= self._seen_tokens
