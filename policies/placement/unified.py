"""Placement by what a state is worth, less what it displaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from policies.parameters import require
from policies.placement.allowance import Allowance
from policies.placement.base import BasePlacer
from policies.placement.chain import best_few, priced_chain
from policies.placement.price import Price
from policies.worth.points import Candidate
from policies.worth.worth import Worth
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window
from simulator.trace.grid import Grid


import os
FAC = float(os.environ.get("U_FAC", "1"))


class UnifiedPlacer(BasePlacer):
    """Store the states that are expected to save more than their work and what they displace."""

    observes: ClassVar[bool] = True

    def __init__(self, rate: float = 1.2) -> None:
        require(0 < rate <= 1e6, "rate", "above 0 and at most 1000000", rate)
        self._price = Price(rate)
        self._allowance = Allowance(rate)

    def begin(self, context: CacheContext) -> None:
        self._worth = Worth.of(context)
        self._grid = context.grid
        self._price.begin(context)
        self._kv_bytes = context.sizes.kv_bytes_per_token
        self._state_bytes = context.sizes.state_bytes
        self._seconds = (lambda a, b: float(b - a)) if __import__("os").environ.get("U_TOK") else context.costs.prefill_seconds

    def observe(self, overlap: Overlap) -> None:
        self._price.observe(overlap, self._allowance.settle(overlap.request, overlap.written))
        self._worth.points.observe(overlap)

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        wanted, gains, uses, rates = self._on_grid(self._worth.points.candidates(prefix), prefix.resume)
        order = self._worth.order
        bounded = order is not None and order.asked
        price = self._price.work if bounded else self._price.tokens
        chosen = priced_chain(gains, uses, price)
        if chosen and bounded:
            chosen = self._worth_room(prefix, wanted, rates, chosen)
        allowed = self._allowance.ask(prefix.request, len(chosen))
        if allowed < len(chosen):
            chosen = best_few(gains, uses, chosen, allowed)
        return [wanted[i] for i in chosen]

    def _worth_room(self, prefix, wanted, rates, chosen):
        """Return those that are worth what leaves to make room for them."""
        span = prefix.span
        while span.kv_end == span.start and span.stop:
            span = span.parent
        kv_depth, resume = span.kv_end, prefix.resume
        gains = [self._seconds(resume, wanted[i]) for i in chosen]
        served = [rates[i] for i in chosen]
        best, most = [], 0.0
        for first in range(len(chosen) - 1, -1, -1):
            kv_bytes = max(0, wanted[chosen[first]] - kv_depth) * self._kv_bytes
            room = kv_bytes + self._state_bytes * (len(chosen) - first)
            price = FAC * self._worth.order.loss_of(room) / room if room else 0.0
            few = priced_chain(gains[first:], served[first:], price * self._state_bytes)
            few = [first + i for i in few]
            if not few or few[-1] < first: continue
            deepest = min(few)
            value, above = 0.0, 0.0
            for i in sorted(few, reverse=True):
                value += (gains[i] - above) * served[i]
                above = gains[i]
            value -= price * (self._state_bytes * len(few) + max(0, wanted[chosen[deepest]] - kv_depth) * self._kv_bytes)
            if value > most:
                best, most = [chosen[i] for i in few], value
        return best

    def _on_grid(self, points, resume):
        floor = self._grid.floor
        wanted, gains, uses, rates = [], [], [], []
        total = rate = 0.0
        last = 0
        for position, more, sooner in points:
            gain = floor(position) - resume
            if gain <= 0:
                break
            total += more
            rate += sooner
            if gain == last:
                wanted[-1], uses[-1], rates[-1] = position, total, rate
                continue
            last = gain
            wanted.append(position)
            gains.append(float(gain))
            uses.append(total)
            rates.append(rate)
        return wanted, gains, uses, rates
