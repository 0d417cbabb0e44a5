"""A pool: a memory budget in bytes with the eviction policy of its entries."""

from __future__ import annotations

from typing import Final

from simulator.plugins.protocols import EvictionPolicy
from simulator.results.result import PoolCounters

_UNBOUNDED_BYTES: Final = 1 << 61  # below 2**62, up to which integers are fast in compiled code


class Pool:
    """A memory budget and counters of what is stored in it; an entry is in exactly one pool.

    Parameters
    ----------
    name
        Name shown in reports.
    capacity_bytes
        The budget in bytes; None for unbounded.
    order
        The eviction policy.
    expires
        Whether entries can expire, so that the policy is used even if the pool is unbounded.
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
        # If nothing ever leaves, as in most unbounded pools, the policy need not be informed.
        self.evicts = expires or capacity_bytes is not None
        self.total_bytes = _UNBOUNDED_BYTES if capacity_bytes is None else capacity_bytes
        self.free_bytes = self._least_free_bytes = self.total_bytes
        self.held_bytes = 0  # reserved for running requests, apart from stored entries
        self.kv_bytes = 0
        self.checkpoint_bytes = 0
        self.checkpoints = 0
        self.checkpoints_taken = 0  # ever stored
        self.kv_peak_bytes = 0
        self.kv_taken_bytes = 0  # ever stored
        self.checkpoint_peak_bytes = 0
        self.checkpoint_peak_count = 0

    @property
    def peak_bytes(self) -> int:
        """The largest number of bytes in use at once."""
        return self.total_bytes - self._least_free_bytes

    def counters(self, replica: int) -> PoolCounters:
        """Return the pool's counters for the result of the simulation.

        Parameters
        ----------
        replica
            Index of the pool's replica.
        """
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
        """Add bytes of KV that is stored to the counters."""
        self.free_bytes -= size_bytes
        self.kv_taken_bytes += size_bytes
        self.kv_bytes += size_bytes
        if self.kv_bytes > self.kv_peak_bytes:
            self.kv_peak_bytes = self.kv_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes

    def give_kv(self, size_bytes: int) -> None:
        """Subtract bytes of KV that is removed from the counters."""
        self.free_bytes += size_bytes
        self.kv_bytes -= size_bytes

    def take_checkpoints(self, count: int, size_bytes: int) -> None:
        """Add stored checkpoints, of `size_bytes` in total, to the counters."""
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
        """Subtract removed checkpoints, of `size_bytes` in total, from the counters."""
        self.free_bytes += size_bytes
        self.checkpoint_bytes -= size_bytes
        self.checkpoints -= count

    def hold(self, size_bytes: int) -> None:
        """Reserve memory for a running request, apart from stored entries; if negative, free it."""
        self.free_bytes -= size_bytes
        self.held_bytes += size_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes
