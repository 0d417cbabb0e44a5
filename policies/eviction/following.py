"""The needs of a clairvoyant plan: what it will still use of a cache, and when."""

from __future__ import annotations

from policies.placement.feasible import FeasiblePlan
from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Needs:
    """Until when entries are needed by a plan.

    Parameters
    ----------
    plan
        The plan that the placer follows.
    """

    def __init__(self, plan: FeasiblePlan) -> None:
        self._prefixes = plan.prefixes
        self._occupancy = plan.occupancy

    def until(self, entry: Entry, request: int) -> int:
        """Return when the plan may cease to need an entry: that request, or a later one.

        Of a span it needs a beginning; it needs all that is resident if it needs its end.
        """
        if isinstance(entry, Checkpoint):
            return self._state_until(entry, request)
        end, until = self._kv_until(entry, request)
        return until if end >= entry.kv_end else request

    def state_behind(self, span: KvSpan, request: int) -> Checkpoint | None:
        """Return the last state of a span, if it lies behind all that is needed of the span."""
        end, _ = self._kv_until(span, request)
        states = span.checkpoints
        return states[-1] if states and states[-1].position > end else None

    def _state_until(self, state: Checkpoint, request: int) -> int:
        prefixes = self._prefixes
        prefix = prefixes.number.get((state.span.node, state.position))
        if prefix is None:
            return request
        interval = prefixes.interval(prefix, request)
        if interval < 0 or not self._occupancy.uses[prefix][interval]:
            return request
        return prefixes.times_of(prefix)[interval + 1]

    def _kv_until(self, span: KvSpan, request: int) -> tuple[int, int]:
        """Return to which token KV of a span is needed, and until which request."""
        prefixes, held = self._prefixes, self._occupancy.kv
        numbers = prefixes.of_node.get(span.node)
        if numbers is None:
            return span.start, request
        interval = prefixes.interval(numbers[0], request)
        for prefix in reversed(numbers) if interval >= 0 else ():
            if held[prefix][interval]:
                return prefixes.kv_end[prefix], prefixes.times_of(prefix)[interval + 1]
        return span.start, request
