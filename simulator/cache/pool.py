"""The bytes of the cache: one budget for KV and states."""

from __future__ import annotations

_UNBOUNDED_BYTES = 1 << 80


class Pool:
    """Counts the bytes in use against one capacity.

    Parameters
    ----------
    capacity_bytes
        The budget; None is unbounded.
    """

    __slots__ = (
        "_least_free_bytes",
        "capacity_bytes",
        "checkpoint_bytes",
        "checkpoint_peak_bytes",
        "checkpoint_peak_count",
        "checkpoints",
        "free_bytes",
        "kv_bytes",
        "kv_peak_bytes",
        "kv_taken_bytes",
        "total_bytes",
    )

    def __init__(self, capacity_bytes: int | None) -> None:
        self.capacity_bytes = capacity_bytes
        self.total_bytes = _UNBOUNDED_BYTES if capacity_bytes is None else capacity_bytes
        self.free_bytes = self._least_free_bytes = self.total_bytes
        self.kv_bytes = 0
        self.checkpoint_bytes = 0
        self.checkpoints = 0
        self.kv_peak_bytes = 0
        self.kv_taken_bytes = 0  # all that ever entered
        self.checkpoint_peak_bytes = 0
        self.checkpoint_peak_count = 0

    @property
    def peak_bytes(self) -> int:
        """The most bytes that were ever in use at once."""
        return self.total_bytes - self._least_free_bytes

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

    def take_checkpoint(self, size_bytes: int) -> None:
        """Count a checkpoint that has entered."""
        self.free_bytes -= size_bytes
        self.checkpoint_bytes += size_bytes
        self.checkpoints += 1
        if self.checkpoints > self.checkpoint_peak_count:
            self.checkpoint_peak_count = self.checkpoints
            self.checkpoint_peak_bytes = self.checkpoint_bytes
        if self.free_bytes < self._least_free_bytes:
            self._least_free_bytes = self.free_bytes

    def give_checkpoint(self, size_bytes: int) -> None:
        """Count a checkpoint that has left."""
        self.free_bytes += size_bytes
        self.checkpoint_bytes -= size_bytes
        self.checkpoints -= 1
