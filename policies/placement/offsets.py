"""Checkpoints at fixed distances from the start and from the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policies.parameters import require
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window

_LIST = r"[0-9]{1,16}(\+[0-9]{1,16})*"


def distances(parameter: str, text: str | None) -> list[int]:
    """Read distances in tokens, such as "0+256+1024"; ascending, unique, empty for None.

    Raises
    ------
    ValueError
        Where it is something else.
    """
    if text is None:
        return []
    expected = "distances in tokens joined by '+', such as 0+256"
    require(re.fullmatch(_LIST, text) is not None, parameter, expected, text)
    return sorted({int(part) for part in text.split("+")})


class Offsets(BasePlacer):
    """Store checkpoints at given distances from the start and from the end of the prompt.

    Where all prompts are made of parts of known lengths, such as a system prompt of 1,200 tokens
    and a template of 30 tokens after the user's message, this needs no learning.

    Parameters
    ----------
    start, end
        Distances in tokens, joined by "+"; 0 from the end is the end itself, which is what
        is stored where neither is given.

    Source: none; the user knows the positions.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("offsets:start=1200,end=30", prompt_tokens=2000)
    [1200, 1970]
    >>> planned("offsets:start=1200,end=0+30", prompt_tokens=900)  # too short for the first
    [870, 900]
    """

    def __init__(self, start: str | None = None, end: str | None = None) -> None:
        self._start = distances("start", start)
        self._end = distances("end", "0" if start is end is None else end)

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the given positions that lie between the resume point and the end."""
        resume, length = prefix.resume, prefix.prompt_tokens
        wanted = {*self._start, *(length - offset for offset in self._end)}
        return sorted(position for position in wanted if resume < position <= length)
