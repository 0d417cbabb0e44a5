"""What a use can be expected at, against all ends that one could wait for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.orders.hazard import Hazard, holding, index_of


def best_of_all_ends(chances, first):
    """Return the most uses per request, by trying every last bin."""
    best = uses = requests = 0.0
    left = 1.0
    for age_bin in range(first, len(chances)):
        width = 1 if age_bin == 0 else 2 ** (age_bin - 1)
        uses += left * chances[age_bin]
        requests += left * width * (1 - chances[age_bin] / 2)
        left *= 1 - chances[age_bin]
        best = max(best, uses / requests)
    return best


@given(counts=st.lists(st.tuples(st.floats(0, 50), st.floats(0.5, 50)), min_size=1, max_size=12))
def test_the_index_is_the_best_that_any_end_gives(counts):
    used, came = [pair[0] for pair in counts], [pair[1] for pair in counts]
    chances = [min(pair[0] / pair[1], 1.0) for pair in counts]
    for first, index in enumerate(index_of(used, came)):
        assert index == pytest.approx(best_of_all_ends(chances, first), rel=1e-9)


def test_a_rate_that_falls_is_its_own_index():
    assert index_of([1, 1, 1], [2, 4, 8]) == pytest.approx(
        [0.5 / 0.75, 0.25 / 0.875, 0.125 / 1.875]
    )


def test_an_entry_came_to_all_ages_up_to_its_end():
    hazard = Hazard(2)
    for _ in range(28):
        hazard.note_use(0, 5)  # bin 3 holds ages 4 to 7
    for _ in range(4):
        hazard.note_end(0, 100)  # bin 7
    came = [4.0 + 32] * 4 + [4.0 + 4] * 4 + [4.0] * (hazard.BINS - 8)
    used = [1.0] * 3 + [1.0 + 28] + [1.0] * (hazard.BINS - 4)
    assert hazard.learned == 1
    assert hazard.index[0] == index_of(used, came)
    assert hazard.index[1] == Hazard(1).index[0]


def test_it_learns_in_place_and_forgets_by_half():
    hazard = Hazard(1)
    index, before = hazard.index[0], list(hazard.index[0])
    for _ in range(hazard.HALVING + 2000):
        hazard.note_use(0, 5)
    assert hazard.index[0] is index
    assert index[3] > before[3]
    assert hazard.learned > 10
    assert sum(hazard.ended[0]) < 0.6 * hazard.HALVING
    assert hazard.used[0][3] == pytest.approx(sum(hazard.ended[0]), abs=4)


@given(index=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_a_low_holds_until_there_is_a_lesser_index(index):
    lows = [min(index[: age_bin + 1]) for age_bin in range(len(index))]
    for age_bin, age in enumerate(holding(lows)):
        beyond = age.bit_length()  # the bin of that age
        assert beyond > age_bin
        assert min(index[:beyond]) == lows[age_bin]
        assert beyond == len(index) + 1 or index[beyond] < lows[age_bin]
