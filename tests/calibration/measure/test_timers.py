from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.calibration.tiny import tiny_model, torch  # first: it skips where torch is absent

# isort: split
from calibration.clock import ProcessClock
from calibration.fit.points import Typical
from calibration.measure import copies, graphs
from calibration.measure.copies import CopyTimer
from calibration.measure.graphs import GraphTimer, NotCapturableError
from calibration.measure.passes import PassTimer
from calibration.models.hybrid import HybridModel
from calibration.plan import Item


class Recorder:
    """A clock that notes which passes run within the time, and a model that tells it."""

    typical: Typical = "median"

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.timed: list[list[tuple[int, tuple[int, ...]]]] = []
        self.outside: list[tuple[int, tuple[int, ...]]] = []
        self.now = self.outside
        forward = HybridModel.forward

        def recorded(model: HybridModel, cache: Any, tokens: Any, **options: bool) -> Any:
            self.now.append((cache.tokens, tuple(tokens.shape)))
            return forward(model, cache, tokens, **options)

        monkeypatch.setattr(HybridModel, "forward", recorded)

    def seconds(self, action: Callable[[], object]) -> float:
        self.now = []
        action()
        self.timed.append(self.now)
        self.now = self.outside
        return 1.0


def timer(clock: Any, warm_ups: int = 1) -> PassTimer:
    return PassTimer(tiny_model("qwen3.5"), clock, warm_ups, seed=0)


@pytest.mark.parametrize(
    ("item", "passes"),
    [
        (Item("prefill", 0, (64,)), [(0, (1, 64))]),
        (Item("prefill", 300, (16,)), [(300, (1, 16))]),
        (Item("decode", 300, (1,), batch=3), [(300, (3, 1))]),
        (Item("cut", 0, (20, 20, 20)), [(0, (1, 20)), (20, (1, 20)), (40, (1, 20))]),
        (Item("cut", 128, (64, 7)), [(128, (1, 64)), (192, (1, 7))]),
    ],
)
def test_what_is_timed_is_the_passes_behind_the_context(
    item: Item, passes: list[tuple[int, tuple[int, int]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Recorder(monkeypatch)
    pass_timer = timer(clock)
    for _ in range(3):
        pass_timer.seconds(item)
    assert clock.timed == [passes] * 3


def test_warm_ups_come_before_the_first_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Recorder(monkeypatch)
    pass_timer = timer(clock, warm_ups=3)
    item = Item("prefill", 64, (16,))
    pass_timer.seconds(item)
    assert clock.outside.count((64, (1, 16))) == 3
    pass_timer.seconds(item)
    assert clock.outside.count((64, (1, 16))) == 3


def test_a_pass_without_context_has_no_state_and_one_behind_a_context_has() -> None:
    seen: list[list[bool]] = []
    pass_timer = timer(ProcessClock(), warm_ups=0)

    def look() -> None:
        assert pass_timer._cache is not None
        marks = [layer.has_previous_state for layer in pass_timer._cache.cache.layers[:3]]
        seen.append([all(mark.values()) if isinstance(mark, dict) else mark for mark in marks])

    for c in (0, 64, 0, 64):
        pass_timer.seconds(Item("prefill", c, (16,)), look)
    assert seen == [[False] * 3, [True] * 3, [False] * 3, [True] * 3]


def test_the_kv_of_a_context_is_noise_not_zeros() -> None:
    pass_timer = timer(ProcessClock())
    pass_timer.seconds(Item("prefill", 200, (16,)))
    assert pass_timer._cache is not None
    for rows in pass_timer._cache.kv_rows(0, 200):
        assert 0.8 < float(rows.std()) < 1.2


def test_room_is_kept_where_it_is_enough() -> None:
    pass_timer = timer(ProcessClock())
    pass_timer.seconds(Item("prefill", 200, (16,)))
    first = pass_timer._cache
    pass_timer.seconds(Item("prefill", 0, (64,)))
    assert pass_timer._cache is first
    pass_timer.seconds(Item("decode", 64, (1,), batch=2))
    assert pass_timer._cache is not first
    pass_timer.release()
    assert pass_timer._cache is None


@pytest.mark.parametrize("way", ["d2d", "d2h-pageable", "h2d-pageable", "write", "read"])
def test_copies_take_time_and_leave_no_file(way: str, tmp_path: Path) -> None:
    copy_timer = CopyTimer("cpu", ProcessClock(), tmp_path)
    item = Item("copy", way=way, size_bytes=8192)
    assert copy_timer.seconds(item) > 0
    assert copy_timer.seconds(item) > 0
    copy_timer.release()
    assert list(tmp_path.iterdir()) == []


def test_a_copy_copies() -> None:
    copy_timer = CopyTimer("cpu", ProcessClock(), Path())
    action = copy_timer.action(Item("copy", way="d2d", size_bytes=4096))
    assert bool((action() == 1).all())  # what lay in the source


@pytest.mark.parametrize(
    ("way", "pinned"),
    [("d2h", [False, True]), ("h2d", [True, False]), ("d2h-pageable", [False] * 2)],
)
def test_host_buffers_are_pinned_unless_pageable_is_asked(
    way: str, pinned: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    ones = torch.ones

    def noted(size: int, *, pin_memory: bool, **options: Any) -> Any:
        asked.append(pin_memory)
        return ones(size, **options)

    monkeypatch.setattr(copies.torch, "ones", noted)
    CopyTimer("cpu", ProcessClock(), Path()).action(Item("copy", way=way, size_bytes=4096))
    assert asked == pinned


class FakeGraph:
    """Replays nothing, and counts."""

    replays = 0

    def replay(self) -> None:
        FakeGraph.replays += 1


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for streams and graphs, which only a GPU has; return what is done with them."""
    done: list[str] = []

    class Stream:
        def wait_stream(self, _: Stream) -> None:
            done.append("wait")

    @contextmanager
    def noted(what: str) -> Iterator[None]:
        done.append(f"into {what}")
        yield
        done.append(f"out of {what}")

    cuda = graphs.torch.cuda
    monkeypatch.setattr(cuda, "Stream", Stream)
    monkeypatch.setattr(cuda, "current_stream", Stream)
    monkeypatch.setattr(cuda, "stream", lambda _: noted("stream"))
    monkeypatch.setattr(cuda, "graph", lambda _: noted("graph"))
    monkeypatch.setattr(cuda, "CUDAGraph", FakeGraph)
    return done


def test_a_graph_is_captured_once_and_replayed_each_time(fake_cuda: list[str]) -> None:
    FakeGraph.replays = 0
    graph_timer = GraphTimer(tiny_model("qwen3.5"), ProcessClock(), seed=0)
    for _ in range(3):
        graph_timer.seconds(Item("graph", 0, (64,)))
    assert fake_cuda == [
        *("wait", "into stream", "out of stream", "wait"),
        *("into graph", "out of graph"),
    ]
    assert FakeGraph.replays == 3


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("operation not permitted when stream is capturing"), NotCapturableError),
        (torch.OutOfMemoryError("CUDA out of memory"), torch.OutOfMemoryError),
    ],
)
@pytest.mark.usefixtures("fake_cuda")
def test_a_pass_that_cannot_be_captured_is_named(
    raised: RuntimeError, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def failing(_: object) -> Iterator[None]:
        raise raised
        yield

    monkeypatch.setattr(graphs.torch.cuda, "graph", failing)
    graph_timer = GraphTimer(tiny_model("qwen3.5"), ProcessClock(), seed=0)
    with pytest.raises(expected):
        graph_timer.seconds(Item("graph", 0, (64,)))
