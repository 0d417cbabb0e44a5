"""The search against trying every capacity."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from reports.capacity.evidence import Trial
from reports.capacity.search import GridLimits, SearchResult, crossing_of, search
from tests.reports.capacity.examples import HIT_RATE, trial


def searched(grid: list[int], curve: Callable[[int], Trial], within: float = 0.0) -> SearchResult:
    """Run a search over a curve from capacity to trial."""
    asked = search(grid, HIT_RATE, within)
    wanted = next(asked)
    while True:
        try:
            wanted = asked.send({capacity: curve(capacity) for capacity in wanted})
        except StopIteration as ended:
            result: SearchResult = ended.value
            return result


@given(st.integers(2, 5000), st.integers(0, 300), st.integers(0, 300))
def test_on_a_rising_curve_the_least_capacity_is_found_to_the_byte(
    least: int, before: int, behind: int
) -> None:
    def rising(capacity: int) -> Trial:
        value = 0.5 * capacity / least
        may, sure = capacity >= least - before, capacity >= least + behind
        return trial(capacity, value, may=may, sure=sure)

    grid = [1 << power for power in range(15)]
    ended = searched(grid, rising)
    assert ended.least is not None
    assert ended.least.capacity_bytes == least
    assert ended.crossings["met"].below == least - 1
    assert ended.low == (least - before - 1 if least - before > 1 else None)
    assert ended.high == least + behind
    assert not ended.missed_above
    assert not ended.uneven
    assert len(ended.trials) <= len(grid) + 3 * 13


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.05, 0.5]),
)
def test_on_any_curve_what_is_said_of_the_tried_is_true(values: list[float], within: float) -> None:
    def curve(capacity: int) -> Trial:
        return trial(capacity, values[capacity * 7 % len(values)])

    ended = searched([8, 16, 64, 256], curve, within)
    tried = {t.capacity_bytes: curve(t.capacity_bytes).met for t in ended.trials}
    assert tried.keys() >= {8, 16, 64, 256}
    met = [capacity for capacity, holds in tried.items() if holds]
    assert (ended.least.capacity_bytes if ended.least else None) == min(met, default=None)
    above = [c for c, holds in tried.items() if met and c > min(met) and not holds]
    assert list(ended.missed_above) == above


def test_where_the_grid_crosses_back_at_once_the_step_is_not_halved() -> None:
    values = {10: 0.1, 20: 0.6, 40: 0.4, 80: 0.9}
    ended = searched(list(values), lambda capacity: trial(capacity, values[capacity]))
    assert [t.capacity_bytes for t in ended.trials] == [10, 20, 40, 80]
    assert not ended.crossings["met"].clean
    assert ended.least is not None
    assert ended.least.capacity_bytes == 20
    assert ended.missed_above == (40,)


def test_a_later_miss_is_told_and_hinders_nothing() -> None:
    def curve(capacity: int) -> Trial:
        return trial(capacity, 0.2 if capacity >= 80 else min(1.0, capacity / 30))

    ended = searched([10, 20, 40, 80], curve)
    assert ended.least is not None
    assert ended.least.capacity_bytes == 15
    assert ended.missed_above == (80,)


def test_a_dip_inside_the_halved_step_is_told() -> None:
    def curve(capacity: int) -> Trial:
        return trial(capacity, 0.1 if capacity == 22 else min(1.0, capacity / 64))

    assert searched([16, 32, 64], curve).uneven


def test_no_capacity_and_every_capacity() -> None:
    none = searched([4, 8], lambda capacity: trial(capacity, 0.1))
    assert none.least is None
    assert (none.low, none.high) == (8, None)
    every = searched([4, 8], lambda capacity: trial(capacity, 0.9))
    assert every.least is not None
    assert every.least.capacity_bytes == 4
    assert (every.low, every.high) == (None, 4)


def test_a_step_as_fine_as_asked_is_left_alone() -> None:
    crossing = crossing_of([trial(100, 0.1), trial(103, 0.9)], "met")
    assert crossing.middle(0.03) is None
    assert crossing.middle(0.01) == 101
    assert crossing_of([trial(0, 0.1), trial(1, 0.9)], "met").middle(0.0) is None


def extended(grid: list[int], curve: Callable[[int], Trial], ends: GridLimits) -> SearchResult:
    """Run a search that may leave its grid, and halves nothing."""
    asked = search(grid, HIT_RATE, 10.0, ends)
    wanted = next(asked)
    while True:
        try:
            wanted = asked.send({capacity: curve(capacity) for capacity in wanted})
        except StopIteration as ended:
            result: SearchResult = ended.value
            return result


def rising(least: int) -> Callable[[int], Trial]:
    return lambda capacity: trial(capacity, 0.5 * min(2.0, capacity / least))


def test_a_grid_whose_smallest_meets_the_target_is_extended_below() -> None:
    ended = extended([64, 128], rising(20), GridLimits(3, 1024))
    assert ended.grid == (16, 32, 64, 128)
    assert ended.crossings["met"].below == 16
    assert ended.least is not None
    assert ended.least.capacity_bytes == 32


def test_down_to_what_can_be_of_use_and_no_further() -> None:
    ended = extended([64], rising(1), GridLimits(3, 1024))
    assert ended.grid == (3, 4, 8, 16, 32, 64)
    assert ended.least is not None
    assert ended.least.capacity_bytes == 3
    assert extended([2, 64], rising(1), GridLimits(3, 1024)).grid == (2, 64)


def test_a_grid_that_misses_is_extended_above_up_to_where_all_fits() -> None:
    assert extended([4, 8], rising(50), GridLimits(3, 100)).grid == (4, 8, 16, 32, 64, 100)
    assert extended([4, 8], rising(5000), GridLimits(3, 100)).grid == (4, 8, 16, 32, 64, 100)
    assert extended([4, 200], rising(5000), GridLimits(3, 100)).grid == (4, 200)


def test_a_grid_that_holds_the_answer_stays() -> None:
    assert extended([4, 64], rising(20), GridLimits(1, 4096)).grid == (4, 64)
