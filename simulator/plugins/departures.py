"""A preview of which entries would be evicted to make room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Departure(NamedTuple):
    """One foreseen eviction: a state, or KV of a span with its dependent states.

    Parameters
    ----------
    entry
        The state that would be evicted, or the span that would lose KV.
    freed_bytes
        Bytes freed, states included.
    states
        The evicted states, deepest first: `entry` itself, or the states of a span that become
        unusable because KV before them is evicted.
    """

    entry: Entry
    freed_bytes: int
    states: tuple[Checkpoint, ...] = ()


class Departures:
    """A lazy sequence of the evictions needed to free `short_bytes`.

    It can be iterated repeatedly until the cache changes. It is falsy if there is room already. If
    no evictions suffice, the freed bytes sum to less than `short_bytes`.

    Parameters
    ----------
    short_bytes
        Bytes that must be freed.
    foresee
        Returns an iterator over the evictions that free a given number of bytes.
    """

    __slots__ = ("_foresee", "short_bytes")

    def __init__(self, short_bytes: int, foresee: Callable[[int], Iterator[Departure]]) -> None:
        self.short_bytes = short_bytes
        self._foresee = foresee

    def __bool__(self) -> bool:
        return self.short_bytes > 0

    def __iter__(self) -> Iterator[Departure]:
        return self._foresee(self.short_bytes)


def nothing(short_bytes: int) -> Iterator[Departure]:
    """Return an empty iterator, for the case that nothing is evicted."""
    del short_bytes
    return iter(())


NO_DEPARTURES = Departures(0, nothing)  # used if there is room


class Rest:
    """A KV span as it would be after the evictions foreseen so far.

    Parameters
    ----------
    span
        The span.
    gone
        States that would have been evicted before.
    """

    __slots__ = ("_span", "checkpoints", "kv_end", "size_bytes", "start")

    def __init__(self, span: KvSpan, gone: Set[Entry]) -> None:
        self._span = span
        self.start, self.kv_end = span.start, span.kv_end
        self.size_bytes = span.size_bytes
        self.checkpoints = list(span.checkpoints)
        if gone:
            self.checkpoints = [state for state in self.checkpoints if state not in gone]

    def cut(self, end: int, kv_bytes: int, *, with_states: bool) -> Departure:
        """Remove the KV after token `end`, and the states there, from the foreseen span.

        Parameters
        ----------
        end
            New end of the KV, in tokens.
        kv_bytes
            Bytes per token of KV.
        with_states
            Whether the bytes of the states count.

        Returns
        -------
        Departure
            The eviction.
        """
        freed_bytes = (self.kv_end - end) * kv_bytes
        self.kv_end = end
        self.size_bytes -= freed_bytes
        states = []
        while self.checkpoints and self.checkpoints[-1].position > end:
            states.append(state := self.checkpoints.pop())
            if with_states:
                freed_bytes += state.size_bytes
        return Departure(self._span, freed_bytes, tuple(states))


def departures_of(
    victims: Iterator[Entry],
    short_bytes: int,
    end_of: Callable[[Rest, int], int],
    kv_bytes: int,
    *,
    with_states: bool = True,
) -> Iterator[Departure]:
    """Yield the evictions that free `short_bytes`.

    Parameters
    ----------
    victims
        The order of eviction, as foreseen by the eviction policy.
    short_bytes
        Bytes that must be freed.
    end_of
        Returns the new end of a span's KV, given its rest and the bytes still missing.
    kv_bytes
        Bytes per token of KV.
    with_states
        Whether states evicted along with KV free bytes in the same pool.
    """
    gone: set[Entry] = set()
    rests: dict[Entry, Rest] = {}
    for victim in victims:
        if isinstance(victim, Checkpoint):
            departure = Departure(victim, victim.size_bytes, (victim,))
        elif victim.checkpoints or victim.size_bytes > short_bytes:
            rest = rests.get(victim)
            if rest is None:
                rest = rests[victim] = Rest(victim, gone)
            end = end_of(rest, short_bytes)
            departure = rest.cut(end, kv_bytes, with_states=with_states)
        else:  # the whole span is evicted and holds no states
            departure = Departure(victim, victim.size_bytes, ())
        yield departure
        short_bytes -= departure.freed_bytes
        if short_bytes <= 0:
            return
        gone.update(departure.states)
