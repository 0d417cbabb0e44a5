"""A clock that neighbours do not disturb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from calibration.fit.points import Typical
from tests.calibration.tiny import torch

from calibration.prototype.steady import SteadyClock  # isort: skip


class Busy:
    """A clock on a machine whose neighbours make all that it times so many times longer."""

    typical: Typical = "minimum"

    def __init__(self, model: Any) -> None:
        self.slower = 1.0
        self._model = model

    def seconds(self, action: Callable[[], object]) -> float:
        self._model.took = 0.0
        action()
        return self.slower * float(self._model.took)


class Model:
    """Takes 10 ms a pass, whatever is asked of it."""

    took = 0.0

    class Cache:
        def clear(self) -> None:
            pass

    def new_cache(self, _: int) -> Cache:
        return Model.Cache()

    def random_tokens(self, tokens: int, *, seed: int) -> Any:
        return torch.zeros(1, tokens)

    def forward(self, *_: object) -> None:
        self.took += 0.01


@pytest.fixture
def model() -> Any:
    return Model()


def test_what_slows_down_all_alike_does_not_count(model: Any) -> None:
    busy = Busy(model)
    clock = SteadyClock(busy, model)
    assert clock.unit_seconds == pytest.approx(0.01)

    def three_passes() -> None:
        for _ in range(3):
            model.forward()

    for slower in (1.0, 1.5, 4.0):
        busy.slower = slower
        assert busy.seconds(three_passes) == pytest.approx(0.03 * slower)
        assert clock.seconds(three_passes) == pytest.approx(0.03)


def test_a_unit_that_is_given_is_kept(model: Any) -> None:
    clock = SteadyClock(Busy(model), model, 0.02)
    assert clock.seconds(model.forward) == pytest.approx(0.02)
    assert clock.slowdown == pytest.approx(0.5)
    assert clock.typical == "median"
