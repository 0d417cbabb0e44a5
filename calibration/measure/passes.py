"""Times forward passes: prefill, decode, cut prefills and batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from calibration.clock import CallClock
from calibration.models.hybrid import HybridModel
from calibration.models.states import ModelCache
from calibration.plan import Item

_ROOM_STEP = 4096  # KV buffers grow in steps of this many tokens


@dataclass(slots=True)
class PassTimer:
    """Times passes after a context of any length.

    The context is not computed: its KV is noise and its states are those of an earlier pass. This
    costs the same and allows measuring any point at once. Zeros would not do, since a device that
    multiplies zeros draws less power and runs faster.

    Parameters
    ----------
    model
        The model to time.
    clock
        Clock of the device.
    warm_ups
        Untimed passes before the first timed one of an item.
    seed
        Seed of the tokens.
    """

    model: HybridModel
    clock: CallClock
    warm_ups: int
    seed: int
    _cache: ModelCache | None = None
    _room: tuple[int, int] = (0, 0)  # batch, tokens
    _warm: set[str] = field(default_factory=set)

    def seconds(self, item: Item, beside: Any = None) -> float:
        """Return the seconds of an item's passes.

        Parameters
        ----------
        item
            Its pieces run one after another, without snapshots between them.
        beside
            Called within the timed interval, before the passes: starts a concurrent activity.
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
        """Free the KV buffers."""
        self._cache, self._room = None, (0, 0)

    def _run(self, cache: ModelCache, pieces: list[Tensor]) -> None:
        """Run the pieces of a prefill one after another."""
        for tokens in pieces:
            self.model.forward(cache, tokens)

    def _prepare(self, cache: ModelCache, item: Item) -> None:
        """Place the KV cursor after the context; without context, also clear the states."""
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
            self.release()  # first, since the new one may need its memory
            room = -(-needed // _ROOM_STEP) * _ROOM_STEP
            self._cache = self._filled(room, item.batch)
            self._room = item.batch, room
        return self._cache

    def _filled(self, room: int, batch: int) -> ModelCache:
        """Return a new cache whose KV is noise."""
        cache = self.model.new_cache(room)
        self.model.forward(cache, self.model.random_tokens(1, seed=self.seed, batch=batch))
        for rows in cache.kv_rows(0, room):
            rows.normal_()
        return cache
