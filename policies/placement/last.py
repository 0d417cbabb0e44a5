"""One checkpoint at the end of the prompt, of the answer, or of both."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window

WHERE = ("prompt", "answer", "both")


class Last(BasePlacer):
    """Store one checkpoint at the end of the prompt, and on request at the end of the answer.

    Optimal where each prompt continues a whole earlier one, as in a chat whose history is not
    rewritten; worth nothing where prompts share a document and differ in their end.

    Parameters
    ----------
    where
        `prompt`: at the end of the prompt, the state that a prefill ends with anyway. `answer`:
        at the end of the answer, to which the next turn of a chat returns; at that of the prompt
        where the trace does not tell the answer. `both`: at both.

    Source: none; the state that a prefill, or a decode, ends with anyway.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd", "abcdef"], placer="last").saved  # the second prompt continues the first
    [0, 4]
    >>> serve(["abcd", "abcxyz"], placer="last").saved  # it diverges one token before the end
    [0, 0]
    >>> turns, answers = ["ab", "abcde"], ["cd", "f"]
    >>> serve(turns, placer="last:where=answer", answers=answers).saved
    [0, 4]
    """

    def __init__(self, where: str = "prompt") -> None:
        require(where in WHERE, "where", "prompt, answer or both", where)
        self._answer, self._prompt = where != "prompt", where != "answer"

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the length of the prompt, that of prompt plus answer, or both."""
        if not self._answer or prefix.end_tokens <= prefix.prompt_tokens:
            return (prefix.prompt_tokens,)
        if self._prompt:
            return prefix.prompt_tokens, prefix.end_tokens
        return (prefix.end_tokens,)
