"""One checkpoint at the end of the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class Last(BasePlacer):
    """Store one checkpoint at the end of the prompt.

    Optimal where each prompt continues a whole earlier one, as in a chat whose history is not
    rewritten; worth nothing where prompts share a document and differ in their end.

    Source: none; the state that a prefill ends with anyway.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd", "abcdef"], placer="last").saved  # the second prompt continues the first
    [0, 4]
    >>> serve(["abcd", "abcxyz"], placer="last").saved  # it diverges one token before the end
    [0, 0]
    """

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the length of the prompt."""
        return (prefix.prompt_tokens,)
