from __future__ import annotations

import time
from typing import Any

import pytest

from calibration.clock import DeviceClock, ProcessClock, WallClock, clock_for


class FakeCuda:
    """A device whose time moves only when something is launched."""

    def __init__(self) -> None:
        self.milliseconds = 0.0
        self.done: list[str] = []

    def synchronize(self) -> None:
        self.done.append("synchronize")

    def Event(self, *, enable_timing: bool) -> Any:  # noqa: N802  (the name in torch.cuda)
        assert enable_timing
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda, self.at = cuda, -1.0

    def record(self) -> None:
        self.at = self.cuda.milliseconds
        self.cuda.done.append("record")

    def synchronize(self) -> None:
        self.cuda.done.append("wait")

    def elapsed_time(self, other: FakeEvent) -> float:
        return other.at - self.at


def test_events_time_what_is_launched_on_an_idle_device() -> None:
    cuda = FakeCuda()

    def launch() -> None:
        cuda.milliseconds += 4.0
        cuda.done.append("launch")

    assert DeviceClock(cuda).seconds(launch) == pytest.approx(0.004)
    assert cuda.done == ["synchronize", "record", "launch", "record", "wait"]


def test_waiting_costs_wall_time_and_no_processor_time() -> None:
    assert WallClock().seconds(lambda: time.sleep(0.02)) >= 0.02
    assert ProcessClock().seconds(lambda: time.sleep(0.02)) < 0.02
    assert ProcessClock().seconds(lambda: sum(range(10_000))) > 0


def test_what_counts_is_the_minimum_on_a_cpu_and_the_median_on_a_gpu() -> None:
    assert clock_for("cpu").typical == "minimum"
    assert DeviceClock(FakeCuda()).typical == "median"
    pytest.importorskip("torch")
    assert isinstance(clock_for("cuda:0"), DeviceClock)
