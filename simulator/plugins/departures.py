"""What would leave the cache if room were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Departure(NamedTuple):
    """One step of making room.

    Parameters
    ----------
    entry
        The state that would leave, or the span that would lose KV.
    freed_bytes
        What that frees, states included.
    states
        The states that leave, deepest first: the entry itself, or those of the span without whose
        KV they are of no use.
    """

    entry: Entry
    freed_bytes: int
    states: tuple[Checkpoint, ...] = ()


class Departures:
    """All that would leave, in order, worked out as far as it is looked at.

    It can be gone through any number of times, until the cache changes. It is false where there
    is room, and where nothing suffices the departures sum to less than `short_bytes`.

    Parameters
    ----------
    short_bytes
        What is missing.
    foresee
        Begins to work it out.
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
    """Foresee that nothing leaves."""
    del short_bytes
    return iter(())


NO_DEPARTURES = Departures(0, nothing)  # where there is room


class Rest:
    """What would be left of a span: the span itself, as far as shortening it asks.

    Parameters
    ----------
    span
        The span.
    gone
        States that would have left before.
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
        """Let go of the KV beyond token `end`, at `kv_bytes` a token, and of the states there.

        The bytes of the states count if `with_states`.
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
    """Yield what leaves until `short_bytes` are free.

    Parameters
    ----------
    victims
        What goes, one after another, as the eviction policy foresees it.
    short_bytes
        What is missing.
    end_of
        Where the rest of a span is to end, if so many bytes are missing.
    kv_bytes
        Bytes of a token.
    with_states
        Whether the states that leave with KV free bytes of the same pool.
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
        else:  # all of it, and there is nothing else to it
            departure = Departure(victim, victim.size_bytes, ())
        yield departure
        short_bytes -= departure.freed_bytes
        if short_bytes <= 0:
            return
        gone.update(departure.states)
