"""A pool: one budget of bytes, and the order in which its entries leave."""

from __future__ import annotations

from typing import Final

from simulator.plugins.protocols import EvictionPolicy
from simulator.results.result import PoolCounters

_UNBOUNDED_BYTES: Final = 1 << 61  # compiled, whole numbers are fast below 2**62 only


class Pool:
    """Counts the bytes in use against one capacity; an entry lives in exactly one pool.

    Parameters
    ----------
    name
        As reports show it.
    capacity_bytes
        The budget; None is unbounded.
    order
        Says which entry leaves next.
    expires
        Entries may also leave where there is no limit.
    """

    __slots__ = (
        "_least_free_bytes",
        "capacity_bytes",
        "checkpoint_bytes",
        "checkpoint_peak_bytes",
        "checkpoint_peak_count",
        "checkpoints",
        "checkpoints_taken",
        "evicts",
        "free_bytes",
        "held_bytes",
        "kv_bytes",
        "kv_peak_bytes",
        "kv_taken_bytes",
        "name",
        "order",
        "total_bytes",
    )

    def __init__(
        self,
        name: str,
        capacity_bytes: int | None,
        order: EvictionPolicy,
        *,
        expires: bool = False,
    ) -> None:
        self.name = name
        self.capacity_bytes = capacity_bytes
        self.order = order
        # Where nothing ever leaves, as in most unbounded pools, no order has to be kept.
        self.evicts = expires or capacity_bytes is not None
        self.total_bytes = _UNBOUNDED_BYTES if capacity_bytes is None else capacity_bytes
        self.free_bytes = self._least_free_bytes = self.total_bytes
        self.held_bytes = 0  # by running requests, beyond what is stored
        self.kv_bytes = 0
        self.checkpoint_bytes = 0
        self.checkpoints = 0
        self.checkpoints_taken = 0  # all that ever entered
        self.kv_peak_bytes = 0
        self.kv_taken_bytes = 0  # all that ever entered
        self.checkpoint_peak_bytes = 0
        self.checkpoint_peak_count = 0

    @property
    def peak_bytes(self) -> int:
        """The most bytes that were ever in use at once."""
        return self.total_bytes - self._least_free_bytes

    def counters(self, replica: int) -> PoolCounters:
        """Return what it has counted, as the pool of a replica."""
        return PoolCounters(
            replica=replica,
            pool=self.name,
            capacity_bytes=self.capacity_bytes,
            checkpoints_evicted=self.checkpoints_taken - self.checkpoints,
            checkpoint_peak_count=self.checkpoint_peak_count,
            checkpoint_peak_bytes=self.checkpoint_peak_bytes,
            kv_peak_bytes=self.kv_peak_bytes,
            kv_evicted_bytes=self.kv_taken_bytes - self.kv_bytes,
            peak_bytes=self.peak_bytes,
        )

    def take_kv(self, size_bytes: int) -> None:
        """Count KV that has entered."""
        self.free_bytes -= size_bytes
        self.kv_taken_bytes += size_bytes
        self.kv_bytes += size_bytes
        if self.kv_bytes > self.kv_peak_bytes:
            self.kv_peak_bytes = self.kv_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes

    def give_kv(self, size_bytes: int) -> None:
        """Count KV that has left."""
        self.free_bytes += size_bytes
        self.kv_bytes -= size_bytes

    def take_checkpoints(self, count: int, size_bytes: int) -> None:
        """Count checkpoints that have entered; `size_bytes` is that of all."""
        self.free_bytes -= size_bytes
        self.checkpoint_bytes += size_bytes
        self.checkpoints += count
        self.checkpoints_taken += count
        if self.checkpoints > self.checkpoint_peak_count:
            self.checkpoint_peak_count = self.checkpoints
            self.checkpoint_peak_bytes = self.checkpoint_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes

    def give_checkpoints(self, count: int, size_bytes: int) -> None:
        """Count checkpoints that have left; `size_bytes` is that of all."""
        self.free_bytes += size_bytes
        self.checkpoint_bytes -= size_bytes
        self.checkpoints -= count

    def hold(self, size_bytes: int) -> None:
        """Count what a running request holds and has not stored; negative: what it gives back."""
        self.free_bytes -= size_bytes
        self.held_bytes += size_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes
