"""Prices, and the capacity at which memory stops paying."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.capacity.price import GIB, Prices, PriceStep, read_prices, steps
from simulator.base.errors import UsageError


def test_the_hand_worked_steps() -> None:
    # a GiB-hour more saves $8, the next two $2 in all, so $1 each; more memory saves nothing
    by_price = steps([1.0, 2.0, 4.0, 8.0], [20.0, 12.0, 10.0, 10.0])
    assert by_price == [PriceStep(0, float("inf")), PriceStep(1, 8.0), PriceStep(2, 1.0)]


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50)), min_size=1, max_size=9),
    st.floats(0.01, 60),
)
def test_the_steps_name_the_cheapest_choice_at_any_price(
    choices: list[tuple[int, int]], price: float
) -> None:
    by_price = steps([hours for hours, _ in choices], [gpu for _, gpu in choices])
    costs = [price * hours + gpu for hours, gpu in choices]
    best = [step.number for step in by_price if step.dollars_per_gib_hour >= price][-1]
    assert costs[best] == pytest.approx(min(costs))
    worth = [step.dollars_per_gib_hour for step in by_price]
    assert worth == sorted(worth, reverse=True)


def test_memory_and_gpu_are_paid_by_the_hour() -> None:
    prices = Prices(0.5, 3.0)
    assert prices.memory_dollars(4 * GIB, 1800.0) == 1.0
    assert prices.gpu_dollars(1200.0) == 1.0


def test_a_price_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("dollars_per_gib_hour = 0.005\ndollars_per_gpu_hour = 3\n")
    assert read_prices(path) == Prices(0.005, 3.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dollars_per_gib_hour = 1", "'dollars_per_gpu_hour': expected dollars from 0"),
        ("dollars_per_gib_hour = -1\ndollars_per_gpu_hour = 3", "found -1"),
        ("dollars_per_gib_hour = nan\ndollars_per_gpu_hour = 3", "found nan"),
        ("dollars_per_gib_hour = true\ndollars_per_gpu_hour = 3", "found True"),
        ("dollars_per_gib_hour = '1'\ndollars_per_gpu_hour = 3", "found '1'"),
        ("dollar_per_gib_hour = 1", "did you mean 'dollars_per_gib_hour'"),
        ("not toml", "not TOML"),
    ],
)
def test_what_is_no_price_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_prices(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
