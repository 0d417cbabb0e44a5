"""Tuning of Marconi's alpha, by replaying past requests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator.plugins.context import CacheContext
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import EvictionPolicy, Overlap
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace

ALPHAS = (0.0, 0.25, 0.5, 1.0, 2.0)
_ERRORS = 2.0


class Tuning:
    """Remembers the first requests, and finds the alpha that would have saved most tokens.

    All requests are replayed from the first. Since alpha matters only from the first eviction on,
    this amounts to a replay of the later requests from the cache as it was at that time.

    Parameters
    ----------
    window
        Requests remembered after the first eviction, as a multiple of those before it.
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._requests: list[tuple[KvSpan, KvSpan]] = []  # where prompt, and prompt and answer end
        self._enough = float("inf")

    def ready(self) -> bool:
        """Say whether the window is full."""
        return len(self._requests) >= self._enough

    def observe(self, overlap: Overlap) -> None:
        """Remember a request."""
        if overlap.span is not None:
            self._requests.append((overlap.span, overlap.end or overlap.span))

    def note_eviction(self) -> None:
        """Fix the end of the window, if this is the first eviction."""
        if self._enough == float("inf"):
            self._enough = (1 + self._window) * max(len(self._requests), 1)

    def best_alpha(self, context: CacheContext, policy: Callable[[float], EvictionPolicy]) -> float:
        """Return the best of `ALPHAS`, 0 where no gain over 0 is significant."""
        trace = _trace_of(self._requests, context)
        return ALPHAS[surest([_saved_tokens(trace, context, policy(alpha)) for alpha in ALPHAS])]


def surest(saved: list[list[int]]) -> int:
    """Return the row with the greatest sum, 0 if its gain over the first row is not significant.

    A gain counts if it exceeds two of its standard errors. A small cache sees few requests before
    it evicts, and among these some row is ahead by chance.
    """
    rows = np.array(saved)
    best = int(np.argmax(rows.sum(axis=1)))
    gains = rows[best] - rows[0]
    error = gains.std() * np.sqrt(len(gains))
    return best if gains.sum() > _ERRORS * error else 0


def _saved_tokens(trace: Trace, context: CacheContext, eviction: EvictionPolicy) -> list[int]:
    """Return the tokens that each request saves."""
    from policies.admission.always import Always
    from policies.placement.marconi import MarconiPlacer
    from simulator.cache.layout import unified
    from simulator.cache.policy_cache import PolicyCache

    cache = PolicyCache(trace, context, MarconiPlacer(), Always(), unified(context, eviction))
    saved = []
    for request in range(len(trace)):
        running = cache.admit(request)
        assert running is not None  # nothing has to wait where running requests do not count
        cache.plan(running, running.end)
        saved.append(running.match.resume)
        cache.commit(running, running.end, float(request))
        cache.release(running)
    return saved


def _trace_of(requests: list[tuple[KvSpan, KvSpan]], context: CacheContext) -> Trace:
    """Return the requests as a trace of their own."""
    number: dict[KvSpan, int] = {}
    parent, start, stop = [-1], [0], [0]
    for _, end in requests:
        path: list[KvSpan] = []
        span = end
        while span.stop and span not in number:
            path.append(span)
            span = span.parent
        for below in reversed(path):
            number[below] = len(parent)
            parent.append(number[below.parent] if below.start else 0)
            start.append(below.start)
            stop.append(below.stop)
    unknown = np.full(len(requests), -1, dtype=np.int32)
    tree = PrefixTree(np.array(parent, dtype=np.int32), np.array(start), np.array(stop))
    return Trace(
        name="window",
        tree=tree,
        leaf=np.array([number[leaf] for leaf, _ in requests], dtype=np.int32),
        arrival_seconds=None,
        output_tokens=np.zeros(len(requests), dtype=np.int64),
        session=unknown,
        label=unknown,
        granularity=context.grid.granularity,
        after=np.array([number[end] for _, end in requests], dtype=np.int32),
    )
