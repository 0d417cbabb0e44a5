"""A checkpoint after every interval of computed tokens."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class Interval(BasePlacer):
    """Store a checkpoint whenever `every` more tokens have been computed.

    Counted from the resume point, as an engine does that snapshots after every few chunks of its
    prefill: unlike `block`, what is already saved shifts the positions of all that follows.

    Parameters
    ----------
    every
        Tokens of prefill between checkpoints, 1 or more.

    Source: none; what engines do that snapshot between chunks.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("interval:every=30", prompt_tokens=100, resume=25)
    [55, 85]
    >>> planned("block:size=30", prompt_tokens=100, resume=25)
    [30, 60, 90]
    """

    def __init__(self, every: int) -> None:
        require_at_least("every", every, 1)
        self._every = every

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the positions that are whole intervals behind the resume point."""
        return range(prefix.resume + self._every, prefix.prompt_tokens + 1, self._every)
