"""The knowledge of returns that the placer, the admission and the eviction of a cache share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from policies.worth.points import ReturnPoints
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap
from simulator.trace.grid import Grid

AIM: Final = ("tokens", "seconds")  # what a state is to save


class Displacing(Protocol):
    """An order of states that says what making room would cost.

    `asked` is whether any room had to be made so far, `orders_kv` whether KV shares the room.
    """

    asked: bool
    orders_kv: bool

    def losses_of(self, rooms: Sequence[int]) -> list[float]:
        """Return what is lost a request where room is made for so many bytes, each ascending."""
        ...


class SharedWorth:
    """What states are worth, learned once for all policies of a cache.

    Parameters
    ----------
    grid
        Where checkpoints may lie.

    Attributes
    ----------
    points
        The points to which prompts return, and how soon.
    order
        The order of the states that are cached, None where another policy orders them.
    """

    def __init__(self, grid: Grid) -> None:
        self.points = ReturnPoints(grid)
        self.order: Displacing | None = None

    @classmethod
    def of(cls, context: CacheContext) -> SharedWorth:
        """Return what the policies of a cache share; the first of them makes it."""
        shared = context.common.get(cls)
        if shared is None:
            shared = context.common[cls] = cls(context.grid)
        assert isinstance(shared, cls)
        return shared

    def observe(self, overlap: Overlap) -> None:
        """Learn from a request; where nobody orders states, nobody needs to know which it used."""
        self.points.observe(overlap)
        if self.order is None:
            self.points.fresh.clear()
            self.points.used.clear()


def saving_by(aim: str, context: CacheContext) -> Callable[[int, int], float]:
    """Return a function from the start and the end of a prefill to what is saved without it."""
    return context.costs.prefill_seconds if aim == "seconds" else in_tokens


def in_tokens(start: int, stop: int) -> float:
    """Return the tokens of a prefill."""
    return float(stop - start)
