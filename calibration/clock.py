"""Clocks: what a call costs, in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from calibration.fit.points import Typical


class CallClock(Protocol):
    """Times calls, and says which of several times counts."""

    typical: Typical

    def seconds(self, action: Callable[[], object]) -> float:
        """Return how long `action` took."""


class ProcessClock:
    """Processor time of this process: what others do on the machine does not count.

    They still slow it down through shared caches and never speed it up, so the minimum counts.
    """

    typical: Typical = "minimum"

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the processor seconds of `action`, all threads together."""
        start = time.process_time()
        action()
        return time.process_time() - start


class WallClock:
    """Wall time, for reading and writing files, during which the processor rests."""

    typical: Typical = "minimum"

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the seconds of `action`."""
        start = time.perf_counter()
        action()
        return time.perf_counter() - start


class DeviceClock:
    """Events on a CUDA device, around what `action` launches there.

    Parameters
    ----------
    cuda
        The module `torch.cuda`.
    """

    typical: Typical = "median"

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the seconds from an idle device to the end of what `action` launched."""
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
