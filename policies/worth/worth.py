"""What the placer, the admission and the eviction of one cache know together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from policies.worth.points import ReturnPoints
from simulator.plugins.context import CacheContext

AIM: Final = ("tokens", "seconds")  # what a state is to save


class Displacing(Protocol):
    """An order of states that says what making room would cost.

    `asked` is whether any room had to be made so far.
    """

    asked: bool

    def losses_of(self, rooms: Sequence[int]) -> list[float]:
        """Return what is lost a request where room is made for so many bytes, each ascending."""
        ...


class Worth:
    """What states are worth, learned once for all policies of a cache.

    Parameters
    ----------
    context
        That of the cache.

    Attributes
    ----------
    points
        The points to which prompts return, and how soon.
    order
        The order of the states that are cached, None where another policy orders them.
    """

    def __init__(self, context: CacheContext) -> None:
        self.points = ReturnPoints(context.grid)
        self.order: Displacing | None = None

    @classmethod
    def of(cls, context: CacheContext) -> Worth:
        """Return what the policies of a cache share; the first of them makes it."""
        shared = context.common.setdefault(cls, cls(context))
        assert isinstance(shared, cls)
        return shared


def saving_by(aim: str, context: CacheContext) -> Callable[[int, int], float]:
    """Return a function from the start and the end of a prefill to what is saved without it."""
    return context.costs.prefill_seconds if aim == "seconds" else _tokens


def _tokens(start: int, stop: int) -> float:
    return float(stop - start)
