"""Checkpoints where prompts diverge, and at their ends."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class Branch(BasePlacer):
    """Store a checkpoint where prompts were seen to diverge, and one at the end.

    The third prompt of a document finds the state where the second left the first; a prompt that
    continues a whole earlier one finds the state at its end. The second prompt of a document
    finds nothing, unless `first` gives the place where it is likely to diverge.

    Parameters
    ----------
    first
        Store one more checkpoint so many tokens before the end of every prompt, if that position
        lies in its new part; 0 for none.

    Source: the rule of radix-tree caches such as Marconi, arXiv 2411.19379.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcdef", "abcdxy", "abcdpq"], placer="branch").written  # 4: where they diverge
    [[6], [4, 6], [6]]
    >>> serve(["abcdef", "abcdxy"], placer="branch:first=2").saved  # 2 tokens before the end
    [0, 4]
    """

    def __init__(self, first: int = 0) -> None:
        require(0 <= first <= 2**40, "first", "0 to 2**40", first)
        self._first = first

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the known branch points, the one that `first` adds, and the prompt's end."""
        points = [*prefix.branch_points(), prefix.prompt_tokens]
        sighting = prefix.prompt_tokens - self._first
        if self._first and sighting > max(prefix.resume, prefix.overlap):
            points.insert(-1, sighting)
        return points
