"""Clocks that time a function call, in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from calibration.fit.points import Typical


class CallClock(Protocol):
    """A clock that times calls; `typical` tells which of repeated times represents the call."""

    typical: Typical

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` and return how long it took."""


class ProcessClock:
    """CPU time of this process, which excludes time used by other processes.

    Others can still slow it down through shared caches, but never speed it up, so the minimum of
    repeated times is used.
    """

    typical: Typical = "minimum"

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` and return its CPU seconds, summed over threads."""
        start = time.process_time()
        action()
        return time.process_time() - start


class WallClock:
    """Wall time, for file I/O, during which the CPU is idle."""

    typical: Typical = "minimum"

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` and return its wall seconds."""
        start = time.perf_counter()
        action()
        return time.perf_counter() - start


class DeviceClock:
    """GPU time, measured by CUDA events around the launched work.

    Parameters
    ----------
    cuda
        The module `torch.cuda`.
    """

    typical: Typical = "median"

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` on an idle device; return the seconds until its launched work has ended."""
        start, end = (self._cuda.Event(enable_timing=True) for _ in range(2))
        self._cuda.synchronize()
        start.record()
        action()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3


def clock_for(device: str) -> CallClock:
    """Return the clock for prefills on a device."""
    if not device.startswith("cuda"):
        return ProcessClock()
    import torch

    return DeviceClock(torch.cuda)
