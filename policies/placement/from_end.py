"""Checkpoints at fixed distances from the end."""

from __future__ import annotations

from policies.placement.offsets import Offsets


class FromEnd(Offsets):
    """Store checkpoints at given distances from the end of the prompt.

    Where questions follow a document, one distance just beyond the longest question serves them
    all; the whole gap is lost for a question that is longer.

    Parameters
    ----------
    offsets
        Distances in tokens, joined by "+"; 0 is the end itself.

    Source: none; docs/placement.md, section 3, on why a margin helps.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["document who?", "document why?"], placer="from_end:offsets=4").saved
    [0, 9]
    >>> serve(["document who?", "document explain!"], placer="from_end:offsets=8").saved
    [0, 5]
    """

    def __init__(self, offsets: str = "256") -> None:
        super().__init__(end=offsets)
