"""Marconi's two checkpoints a request."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class MarconiPlacer(BasePlacer):
    """Store one checkpoint where the prompt leaves the resident KV, and one after the last token.

    Where the prompt diverges is known before its prefill, so the state there costs no second
    pass; the third prompt that shares the prefix is the first to resume from it. The last state
    lies behind the answer, where the trace tells the answer.

    Parameters
    ----------
    remember
        Compare the prompt with all that was seen, evicted or not. The published rule compares
        with the tree of what is resident, where an evicted branch point must be found again.

    Source: R. Pan et al., "Marconi: prefix caching for the era of hybrid LLMs", MLSys 2025,
    section 4.1, arXiv 2411.19379.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["abcd", "abxy", "abpq"], placer="marconi")
    >>> served.written, served.saved
    ([[4], [2, 4], [4]], [0, 0, 2])
    >>> serve(["ab", "abcde"], placer="marconi", answers=["cd", "f"]).saved  # behind the answer
    [0, 4]
    """

    def __init__(self, remember: bool = False) -> None:
        self._remember = remember

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return where the prompt diverges, if that is behind the resume point, and the end."""
        end = max(prefix.end_tokens, prefix.prompt_tokens)
        fork = prefix.overlap if self._remember else _end_of_resident(prefix)
        if prefix.resume < fork < min(end, prefix.prompt_tokens + 1):
            return fork, end
        return (end,)


def _end_of_resident(prefix: Prefix) -> int:
    """Return where the resident part of the path ends, 0 if that is inside a span.

    There only its tail was evicted, and nothing diverges.
    """
    span = prefix.span
    while span.stop and span.kv_end == span.start:
        span = span.parent
    return span.stop if span.kv_end == span.stop else 0
