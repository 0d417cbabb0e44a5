"""Times of forward passes: prefill, decode, cut prefills and batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from calibration.clock import CallClock
from calibration.models.hybrid import HybridModel
from calibration.models.states import ModelCache
from calibration.plan import Item

_ROOM_STEP = 4096  # tokens by which the room for KV grows


@dataclass(slots=True)
class PassTimer:
    """Times passes behind a context of any length.

    The context is not computed: its KV is noise and the states are those of some earlier pass,
    which costs the same and lets every point be measured at once. Noise, not zeros, since a
    device that multiplies zeros draws less power and runs faster.

    Parameters
    ----------
    model
        What is timed.
    clock
        For the device.
    warm_ups
        Passes before the first timed one of an item.
    seed
        Of the tokens.
    """

    model: HybridModel
    clock: CallClock
    warm_ups: int
    seed: int
    _cache: ModelCache | None = None
    _room: tuple[int, int] = (0, 0)  # batch, tokens
    _warm: set[str] = field(default_factory=set)

    def seconds(self, item: Item, beside: Any = None) -> float:
        """Return the seconds of the passes of an item.

        Parameters
        ----------
        item
            Its pieces run one after the other, without a snapshot between them.
        beside
            Called right before, within the time: something that goes on in the background.
        """
        cache = self._cache_for(item)
        pieces = [
            self.model.random_tokens(n, seed=self.seed, batch=item.batch) for n in item.pieces
        ]
        for _ in range(0 if item.name in self._warm else self.warm_ups):
            self._prepare(cache, item)
            self._run(cache, pieces)
        self._warm.add(item.name)
        self._prepare(cache, item)

        def timed() -> None:
            if beside is not None:
                beside()
            self._run(cache, pieces)

        return self.clock.seconds(timed)

    def release(self) -> None:
        """Let go of the KV."""
        self._cache, self._room = None, (0, 0)

    def _run(self, cache: ModelCache, pieces: list[Tensor]) -> None:
        for tokens in pieces:
            self.model.forward(cache, tokens)

    def _prepare(self, cache: ModelCache, item: Item) -> None:
        """Put the cursor behind the context; without context there is no state either."""
        if item.c == 0:
            cache.clear()
        elif not cache.tokens:
            first = self.model.random_tokens(1, seed=self.seed, batch=item.batch)
            self.model.forward(cache, first)
        cache.move_cursor(item.c)

    def _cache_for(self, item: Item) -> ModelCache:
        """Return a cache with room for an item: the last one, or a new one."""
        batch, room = self._room
        needed = item.c + item.n
        if self._cache is None or batch != item.batch or room < needed:
            self.release()  # before the new one, which may need its memory
            room = -(-needed // _ROOM_STEP) * _ROOM_STEP
            self._cache = self._filled(room, item.batch)
            self._room = item.batch, room
        return self._cache

    def _filled(self, room: int, batch: int) -> ModelCache:
        cache = self.model.new_cache(room)
        self.model.forward(cache, self.model.random_tokens(1, seed=self.seed, batch=batch))
        for rows in cache.kv_rows(0, room):
            rows.normal_()
        return cache
