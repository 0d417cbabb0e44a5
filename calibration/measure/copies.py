"""Times copies of states: within the device, to and from the host, to and from a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from calibration.clock import CallClock, WallClock
from calibration.plan import Item

_PREFIX = ".milepost-state-"  # files left by a killed run are deleted by the next


class CopyTimer:
    """Times copies of states.

    Parameters
    ----------
    device
        Device of the model.
    clock
        Clock of the device.
    folder
        Folder on the disk to time. Files are flushed after writing, and dropped from the page cache
        before reading.
    """

    def __init__(self, device: str, clock: CallClock, folder: Path) -> None:
        self._device = device
        self._clock = clock
        self._folder = folder

    def seconds(self, item: Item) -> float:
        """Measure a copy once and return its seconds."""
        if item.way in {"write", "read"}:
            return self._file_seconds(item)
        action = self.action(item)
        action()  # excludes the first access to new memory from the timing
        return self._clock.seconds(action)

    def action(self, item: Item) -> Callable[[], object]:
        """Return a function that performs the copy of an item, with buffers already allocated."""
        source_end, target_end = item.way.partition("-")[0].split("2")
        pinned = not item.way.endswith("-pageable")
        source = self._buffer(item.size_bytes, source_end, pinned)
        target = self._buffer(item.size_bytes, target_end, pinned)
        return lambda: target.copy_(source, non_blocking=pinned)

    def beside(self, item: Item) -> Callable[[], object]:
        """Return a function that starts an item's copy on a separate CUDA stream."""
        stream, action = torch.cuda.Stream(), self.action(item)

        def start() -> None:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                action()

        return start

    def _buffer(self, size_bytes: int, end: str, pinned: bool) -> Tensor:
        """Return a buffer on the device ("d") or the host."""
        device = self._device if end == "d" else "cpu"
        pin = end == "h" and pinned
        return torch.ones(size_bytes, dtype=torch.uint8, device=device, pin_memory=pin)

    def release(self) -> None:
        """Delete the files."""
        for path in self._folder.glob(f"{_PREFIX}*"):
            path.unlink(missing_ok=True)

    def _file_seconds(self, item: Item) -> float:
        """Return the seconds to write or read a file."""
        path = self._folder / f"{_PREFIX}{item.size_bytes}"
        data = torch.randint(256, (item.size_bytes,), dtype=torch.uint8).numpy()
        if item.way == "write" or not path.exists():
            written = WallClock().seconds(lambda: _write(path, data))
        if item.way == "write":
            return written
        _forget(path)
        return WallClock().seconds(lambda: _read(path, data))


def _write(path: Path, data: memoryview) -> None:
    """Write a file and flush it to disk."""
    with path.open("wb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


def _read(path: Path, into: memoryview) -> None:
    """Read a file into a buffer."""
    with path.open("rb", buffering=0) as file:
        file.readinto(into)


def _forget(path: Path) -> None:
    """Drop a file from the page cache, if the system supports it."""
    if hasattr(os, "posix_fadvise"):
        handle = os.open(path, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)
