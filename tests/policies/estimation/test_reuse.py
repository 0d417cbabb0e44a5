"""Rates of reuse by hand."""

from __future__ import annotations

import pytest

from policies.estimation.reuse import ReuseRates


def test_rates_by_hand() -> None:
    rates = ReuseRates(decay=0.5)
    end = rates.add()
    assert end.rate() == 0.5
    end.trial()
    assert end.rate() == pytest.approx(0.5 / 2)
    end.use()
    assert end.rate() == pytest.approx(1.5 / 2)
    rates.tick()  # what was counted weighs half
    assert end.rate() == pytest.approx((0.5 + 0.5) / (0.5 + 1))
    assert rates.add().rate() == 0.5


def test_labels_shrink_to_all() -> None:
    end = ReuseRates().add()
    for _ in range(99):
        end.trial(0)
    end.trial(1)
    end.use(1)
    everything = 1.5 / 101
    assert end.rate(1) == pytest.approx((1 + 8 * everything) / 9)
    assert end.rate(0) == pytest.approx(8 * everything / 107)
    assert end.rate(5) == pytest.approx(everything)


def test_rates_survive_many_ticks() -> None:
    rates = ReuseRates(decay=0.9)
    end = rates.add()
    for i in range(100_000):
        rates.tick()
        end.trial(3)
        if i % 2:
            end.use(3)
    assert end.rate() == pytest.approx(0.5, abs=0.05)
    assert end.rate(3) == pytest.approx(0.5, abs=0.05)
