"""Placement by what states are worth, less what they displace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from policies.parameters import require
from policies.placement.allowance import Allowance
from policies.placement.base import BasePlacer
from policies.placement.chain import best_few, priced_chain
from policies.placement.price import Price
from policies.worth.points import Candidate
from policies.worth.worth import AIM, SharedWorth, in_tokens, saving_by
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window
from simulator.trace.grid import Grid

LITTLE: Final = 0.02  # a smaller share of what a point and those below it are used does not count

Chosen = list[int]  # indices of candidates, the shallowest position first


class UnifiedPlacer(BasePlacer):
    """Store the states that are expected to save more than their work and what they displace.

    Candidates are the ends of the prompt and of its answer, the points where earlier requests
    ended or diverged on its path, and the one point where a later prompt is most likely to
    diverge. How often, and how soon, prompts return to each kind of point is learned from all
    requests, whatever was cached. While there is room, a state must save its work. In a full cache
    with the eviction `unified`, the set is stored that saves most per unit of time, less what the
    states and KV would save that have to leave for it and for the KV that it needs; where nothing
    saves more than that, nothing is stored.

    Parameters
    ----------
    rate
        New checkpoints a request, at most; above 0.
    aim
        What is saved: tokens, or seconds of prefill.

    Source: this project; docs/placement.md has the derivation and its measurements.

    Examples
    --------
    Each prompt of a chat continues the one before, and resumes behind its last token:

    >>> from policies.tryout import serve
    >>> chat = ["ab", "abcd", "abcdef", "abcdefgh"]
    >>> serve(chat, placer="unified", eviction="unified", admission="unified").saved
    [0, 2, 4, 6]
    """

    observes: ClassVar[bool] = True

    def __init__(self, rate: float = 1.2, aim: str = "tokens") -> None:
        require(0 < rate <= 1e6, "rate", "above 0 and at most 1000000", rate)
        require(aim in AIM, "aim", " or ".join(AIM), aim)
        self._price = Price(rate)
        self._allowance = Allowance(rate)
        self._aim = aim
        self._grid = Grid()
        self._worth = SharedWorth(self._grid)
        self._saving: Callable[[int, int], float] = in_tokens
        self._kv_bytes = self._state_bytes = 1

    def begin(self, context: CacheContext) -> None:
        """Read costs, sizes and the grid; meet the other policies of the cache."""
        self._worth = SharedWorth.of(context)
        self._saving = saving_by(self._aim, context)
        self._grid = context.grid
        self._price.begin(context)
        self._kv_bytes = context.sizes.kv_bytes_per_token
        self._state_bytes = context.sizes.state_bytes

    def observe(self, overlap: Overlap) -> None:
        """Count what the request has written, and where it left the known requests."""
        self._price.observe(overlap, self._allowance.settle(overlap.request, overlap.written))
        self._worth.observe(overlap)

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the candidates that are worth their work and what they displace."""
        candidates = self._worth.points.candidates(prefix)
        wanted, gains, uses, rates = self._on_grid(candidates, prefix.resume)
        order = self._worth.order
        bounded = order is not None and order.asked
        chosen = priced_chain(gains, uses, self._price.work if bounded else self._price.tokens)
        if chosen and bounded:
            chosen = self._worth_their_room(prefix, wanted, rates, chosen)
        allowed = self._allowance.ask(prefix.request, len(chosen))
        if allowed < len(chosen):
            chosen = best_few(gains, uses, chosen, allowed)
        return [wanted[i] for i in chosen]

    def _worth_their_room(
        self, prefix: Prefix, wanted: list[int], rates: list[float], chosen: Chosen
    ) -> Chosen:
        """Return those of the candidates that are worth what leaves to make room for them.

        The price of a byte is what the bytes for all of them would save where they are. For each
        deepest candidate, whose KV is needed, the best set follows; the best of these is taken.
        """
        order = self._worth.order
        assert order is not None
        span, start = prefix.span, prefix.resume
        while span.kv_end == span.start and span.stop:
            span = span.parent
        kv_end, room, saving = span.kv_end, 0, self._saving
        token_bytes = self._kv_bytes if order.orders_kv else 0
        gains: list[float] = []
        served: list[float] = []
        kv_bytes: list[int] = []
        rooms: list[int] = []
        for i in chosen:
            position = wanted[i]
            size = (position - kv_end) * token_bytes if position > kv_end else 0
            room += self._state_bytes
            gains.append(saving(start, position))
            served.append(rates[i])
            kv_bytes.append(size)
            rooms.append(size + room)
        losses = order.losses_of(rooms)
        if len(chosen) == 1:
            return chosen if gains[0] * served[0] > losses[0] else []
        prices = [loss / (room or 1) for loss, room in zip(losses, rooms, strict=True)]
        return [chosen[i] for i in self._best_set(gains, served, kv_bytes, prices)]

    def _best_set(
        self, gains: list[float], served: list[float], kv_bytes: list[int], prices: list[float]
    ) -> list[int]:
        """Return the set of greatest value; all by candidate, `prices` a byte where it is last."""
        best: list[int] = []
        most = 0.0
        for deepest, price in enumerate(prices):
            state_price = price * self._state_bytes
            value, above = -price * kv_bytes[deepest], 0.0
            if not deepest:
                few = [0] if gains[0] * served[0] > state_price else []
            else:
                upwards = gains[deepest::-1], served[deepest::-1]
                few = [deepest - j for j in priced_chain(*upwards, state_price)]
            for i in few:
                value += (gains[i] - above) * served[i] - state_price
                above = gains[i]
            if value > most:
                best, most = few, value
        return best

    def _on_grid(
        self, candidates: list[Candidate], resume: int
    ) -> tuple[list[int], list[float], list[float], list[float]]:
        """Return the points behind `resume`, what each saves, and its uses in all and a request.

        Uses include those of the points below it.
        """
        granularity, alignment = self._grid.granularity, self._grid.alignment
        wanted: list[int] = []
        gains: list[float] = []
        uses: list[float] = []
        rates: list[float] = []
        total, rate, last = 0.0, 0.0, 0
        for position, more, sooner in candidates:
            gain = position - position % granularity  # `Grid.floor`, without a call
            gain -= gain % alignment + resume
            if gain <= 0:
                break
            total += more
            rate += sooner
            if gain == last:  # one position of the grid serves both
                wanted[-1], uses[-1], rates[-1] = position, total, rate
                continue
            if more < LITTLE * total and sooner < LITTLE * rate:
                continue
            last = gain
            wanted.append(position)
            gains.append(float(gain))
            uses.append(total)
            rates.append(rate)
        return wanted, gains, uses, rates
