"""Drifts as functions of the share of the trace."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.base.errors import UsageError
from simulator.base.parameters import parameters_of
from workloads.drift import DRIFTS, Drift, Growth, Shift, drift_name, read_drift

X = np.array([0.0, 0.2, 0.5, 0.72, 0.9, 1.0])


def test_nothing_drifts_by_default():
    still = read_drift("")
    assert still == Drift()
    assert still.weight(X).tolist() == [0.0] * 6
    for value in (still.generation(X, X), still.version(X), still.step(X)):
        assert value.tolist() == [0] * 6
    assert (still.generations, still.versions, still.lengths, still.moved) == (1, 1, 1, 0)
    assert still.scale(np.zeros(2, dtype=np.int64)).tolist() == [1.0, 1.0]


def test_each_by_hand():
    assert read_drift("shift").weight(X).tolist() == X.tolist()
    assert read_drift("shift:at=0.5").weight(X).tolist() == [0, 0, 1, 1, 1, 1]
    assert read_drift("cycles:weeks=1").weight(X).tolist() == [0, 0, 0, 1, 1, 0]
    assert read_drift("rewrites:times=3").version(X).tolist() == [0, 0, 2, 2, 3, 3]
    assert read_drift("growth:steps=1").step(X).tolist() == [0, 0, 1, 1, 1, 1]
    births = read_drift("births:times=2")
    assert births.generation(X, np.full(6, 0.3)).tolist() == [0, 0, 1, 1, 2, 2]
    scale = Growth(factor=8.0, steps=3).scale(np.arange(4))
    assert scale == pytest.approx([1, 2, 4, 8])


def test_several_at_once_and_their_name():
    text = "shift:distance=0.2,at=0.5 + births:times=2.0 + growth:factor=3.0"
    drift = read_drift(text)
    assert drift.mix == Shift(distance=0.2, at=0.5)
    assert drift_name(drift) == text
    assert read_drift(drift_name(drift)) == drift
    assert drift_name(Drift()) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shifts", "unknown name 'shifts'; did you mean 'shift'?"),
        ("shift:distance=2", "distance: expected a number from 0.0 to 1.0, found 2.0"),
        ("shift + cycles", "expected one kind of mix, found two"),
        ("births + births", "expected one kind of births, found two"),
        ("growth:factor=0.5", "factor: expected a number from 1.0"),
        ("rewrites:times=1.5", "times: expected a whole number, found '1.5'"),
    ],
)
def test_a_wrong_drift_is_one_clear_line(text, message):
    with pytest.raises(UsageError) as error:
        read_drift(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", list(DRIFTS))
def test_every_knob_is_documented_and_bounded(name):
    documented = (DRIFTS[name].__doc__ or "").partition("Parameters\n")[2]
    for parameter in parameters_of(DRIFTS[name]):
        assert parameter.name in documented
        for wrong in (-1, 1e12, float("nan"), True, "2"):
            with pytest.raises(UsageError, match=parameter.name):
                DRIFTS[name](**{parameter.name: wrong})
