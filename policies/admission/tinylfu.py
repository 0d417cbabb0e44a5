"""TinyLFU: admission by comparing frequencies of use with those of the victims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from typing import ClassVar

from policies.admission.base import BaseAdmission
from policies.frequency import Frequencies
from policies.parameters import require
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap

VICTIMS = ("first", "each", "all")


class TinyLfu(BaseAdmission):
    """Admit an entry while there is room, or if it was wanted more often than what must leave.

    Counted are uses of entries in the cache, the KV that a prompt shares and the state that it
    resumes from, and each attempt of an entry to enter.

    Parameters
    ----------
    sample
        Number of counted uses after which all counts are halved.
    victims
        The victims to compare with. "first": the first that would leave, as in the paper of 2017,
        where sizes are equal (IV, implicit victims, in that of 2022). "all": the sum over all that
        would leave (AV, aggregated victims), spans and states alike; it stops as soon as that is
        too much. "each": every one of them (QV, queue of victims; there, those that lose leave
        even if the candidate is refused in the end, while here a refusal changes nothing).

    Source: G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
    policy", ACM Transactions on Storage 13(4), 2017; G. Einziger, O. Eytan, R. Friedman and
    B. Manes, "Lightweight robust size aware cache management", ACM Transactions on Storage 18(3),
    2022, for victims of several sizes. The counts are exact, not a sketch.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd", "pqrs"], admission="tinylfu", capacity_bytes=5).kv  # both were wanted once
    ['abcd']
    >>> serve(["abcd", "pqrs", "pqrs"], admission="tinylfu", capacity_bytes=5).kv
    ['a', 'pqrs']
    """

    observes: ClassVar[bool] = True

    def __init__(self, sample: int = 100_000, victims: str = "first") -> None:
        require(victims in VICTIMS, "victims", "first, each or all", victims)
        self._uses = Frequencies(sample)
        self._victims = victims

    def observe(self, overlap: Overlap) -> None:
        """Count the entries that the prompt uses; those missing are counted in `admit`."""
        span, resume = overlap.span, overlap.resume
        while span is not None and span.stop:
            if span.kv_end == span.stop:
                self._uses.add(span.key)
            if span.start < resume <= span.stop:
                state = span.deepest_checkpoint(resume)
                if state is not None and state.position == resume:
                    self._uses.add(state.key)
            span = span.parent

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give the upper part the count of the whole."""
        self._uses.split(upper.key, lower.key)

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Count the candidate, and compare it with what would leave."""
        del size_bytes
        self._uses.add(candidate.key)
        wanted = self._uses.of(candidate.key)
        uses: Iterator[int] = (self._uses.of(entry.key) for entry in _leaving(departures))
        if self._victims == "first":
            uses = islice(uses, 1)
        elif self._victims == "all":
            uses = accumulate(uses)
        return all(wanted > used for used in uses)


def _leaving(departures: Departures) -> Iterator[Entry]:
    """Yield each entry that would leave or be shortened once: a span before its states."""
    seen: set[Entry] = set()
    for departure in departures:
        for entry in (departure.entry, *departure.states):
            if entry not in seen:
                seen.add(entry)
                yield entry
