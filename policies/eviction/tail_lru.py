"""T-LRU: LRU that first evicts what the next turn does not need to meet its budget."""

from __future__ import annotations

from policies.eviction.prefixed import Scored
from policies.orders.lineage import state_at
from policies.parameters import require_at_least
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import Overlap


class TailLru(Scored):
    """Evict first what the next turn may compute again within its budget, then by last use.

    With a history of H tokens and a next question of Q, a turn stays within xi computed tokens if
    it resumes at H + Q - xi or later. What lies behind the first state at or after that position
    is surplus, and leaves first, by last use. So capacity moves from short prompts to long ones,
    whose misses make the tail of the latency.

    Parameters
    ----------
    xi
        Tokens that a turn may compute.
    question
        Q; if not given, the mean number of new tokens of the requests so far that matched.

    Source: W. Zhang et al., "Tail-optimized caching for LLM inference", arXiv 2510.15152, 2025
    (T-LRU). The paper has no states: any token can be resumed from.

    Examples
    --------
    The second prompt may compute 4 tokens with a question of 1: it needs a state at 5 or later, and
    that at 6 is enough. So the one at 8 leaves before the older prompt:

    >>> from policies.tryout import serve
    >>> policies = {"placer": "block:size=2", "eviction": "tail_lru:xi=4,question=1"}
    >>> serve(["aaaa", "bbbbbbbb", "cc"], capacity_bytes=18, **policies).states
    ['aa', 'bb', 'bbbb', 'bbbbbb', 'cc']
    """

    def __init__(self, xi: int = 8192, question: float | None = None) -> None:
        super().__init__()
        require_at_least("xi", xi, 0)
        if question is not None:
            require_at_least("question", question, 0)
        self._xi, self._question = xi, question
        self._turns = self._new_tokens = 0
        self._threshold = 0.0
        self._any_state = False

    def observe(self, overlap: Overlap) -> None:
        """Compute how deep the next turn must resume."""
        if overlap.depth:
            self._turns += 1
            self._new_tokens += overlap.prompt_tokens - overlap.depth
        question = self._question
        if question is None:
            question = self._new_tokens / max(self._turns, 1)
        self._threshold = max(0.0, overlap.prompt_tokens + question - self._xi)

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent, of the surplus or of the rest."""
        if isinstance(entry, Checkpoint):
            self._any_state = True
        self.place(entry, (not self._is_surplus(entry), self._clock))

    def on_hit(self, entry: Entry) -> None:
        """Rank it anew, as of this request."""
        self.on_insert(entry)

    def _is_surplus(self, entry: Entry) -> bool:
        """Say whether a prompt can resume deep enough without it."""
        if isinstance(entry, KvSpan):
            start = entry.start
            above = state_at(entry.parent, start) if self._any_state else start
        else:
            above = state_at(entry.span, entry.position - 1)
        return above >= self._threshold
