"""The price of a checkpoint: the tokens it must be expected to save."""

from __future__ import annotations

from math import exp
from typing import Final

from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap

SAMPLE_TOKENS: Final = 8192  # the prompt for which the work of a checkpoint is expressed in tokens
FADE: Final = 0.999  # decay of all counts with each request
STEP: Final = 0.03  # change of the multiplier's logarithm for a checkpoint above the rate


class Price:
    """Tokens that a checkpoint must be expected to save: the largest of three prices.

    *Work*: capture and restore, in tokens of prefill; at least one token.

    *Bytes*, in a bounded cache that has been filled. Let W be the bytes written a request and C
    the capacity: an entry stays for about C / W requests. Let S be the tokens saved a request,
    and E those lost because their KV had been evicted. S is concave in C for most traffic, so
    that a byte more earns at most S / C; and it cannot win back more than E, of the order of
    E / C a byte. A state of b bytes displaces as many for as long as it stays, so it costs
    about b min(S, E) / W, C cancelling out. Where nothing useful is evicted, bytes are free.

    *Rate*: a multiplier that holds the mean number of wanted checkpoints a request at `rate` (dual
    ascent: it rises by a few per cent for each checkpoint above it, and falls again). What is
    written in spite of it is limited by `allowance.py`.

    Parameters
    ----------
    rate
        New checkpoints a request to aim at, at most.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._work = self._multiplier = 1.0
        self._capacity_bytes: int | None = None
        self._kv_bytes = self._state_bytes = 0
        self._saved_tokens = self._lost_tokens = 0.0
        self._recent_bytes = 1.0
        self._total_bytes = 0

    def begin(self, context: CacheContext) -> None:
        """Read costs and sizes."""
        costs, sizes = context.costs, context.sizes
        seconds = costs.restore_seconds(sizes.state_bytes)
        seconds += costs.capture_seconds(0, SAMPLE_TOKENS, [SAMPLE_TOKENS // 2])
        whole = costs.prefill_seconds(0, SAMPLE_TOKENS)
        self._work = self._multiplier = max(1.0, SAMPLE_TOKENS * seconds / whole) if whole else 1.0
        self._capacity_bytes = context.capacity_bytes
        self._kv_bytes, self._state_bytes = sizes.kv_bytes_per_token, sizes.state_bytes

    def observe(self, overlap: Overlap, excess: float | None = None) -> None:
        """Count the tokens that a request lost to eviction, and the bytes it wrote.

        Parameters
        ----------
        excess
            Checkpoints by which the request wanted more than the rate allows; by default those
            that it wrote less the rate.
        """
        if excess is None:
            excess = overlap.written - self._rate
        if excess > 0.0 or self._multiplier > self._work:
            multiplier = self._multiplier * exp(STEP * (excess if excess < 1.0 else 1.0))
            self._multiplier = multiplier if multiplier > self._work else self._work
        if self._capacity_bytes is not None:
            self._count_bytes(overlap)

    def _count_bytes(self, overlap: Overlap) -> None:
        length = overlap.prompt_tokens
        resident = overlap.kv_depth
        lost = min(overlap.depth, length - 1) - resident
        if overlap.end is not None:
            length = overlap.end.stop
        written = (length - resident if resident > 0 else length) * self._kv_bytes
        written += overlap.written * self._state_bytes
        self._saved_tokens = FADE * self._saved_tokens + overlap.resume
        self._lost_tokens = FADE * self._lost_tokens + (lost if lost > 0 else 0)
        self._recent_bytes = FADE * self._recent_bytes + written
        self._total_bytes += written

    @property
    def work(self) -> float:
        """The price of a checkpoint apart from its bytes."""
        return self._multiplier

    @property
    def tokens(self) -> float:
        """The price of a checkpoint now."""
        price = self._multiplier
        if self._capacity_bytes is not None and self._total_bytes >= self._capacity_bytes:
            earned = min(self._saved_tokens, self._lost_tokens)
            price = max(price, earned * self._state_bytes / max(self._recent_bytes, 1.0))
        return price
