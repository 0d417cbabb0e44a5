"""The common ground of admission policies that are asked."""

from __future__ import annotations

from typing import ClassVar

from simulator.entry import Entry, KvRun
from simulator.world import World


class BaseAdmission:
    """An admission policy that is asked and does not look ahead."""

    always: ClassVar[bool] = False
    clairvoyant: ClassVar[bool] = False

    def begin(self, world: World) -> None:
        """Learn about the cache, before the first request; by default nothing is needed."""

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Say whether `size_bytes` more of `candidate` enter the cache; by default they do."""
        del candidate, size_bytes, victim
        return True


_MASK = (1 << 64) - 1


def identity(entry: Entry) -> int:
    """Return 64 bits that name an entry by its place in the prefix tree, and by nothing else.

    They are the same in every run over one trace, whatever the policies do and in which order
    they are asked. Runs are named by which child of which child ... they are, in order of
    arrival.
    """
    run, mixed = (entry, 0) if isinstance(entry, KvRun) else (entry.run, entry.position)
    while run.stop > 0:
        mixed = _mix(mixed ^ _mix(run.ordinal + 1) ^ run.start)
        run = run.parent
    return mixed


def _mix(value: int) -> int:
    """Return SplitMix64's output for a state (G. Steele et al., OOPSLA 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
