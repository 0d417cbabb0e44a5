"""The index of points, held against brute force, a closed form and simulated waits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.worth.index import PRICES, ROUNDS, STEP, indices
from policies.worth.kinds import STAGES
from policies.worth.waits import BINS

WIDTHS = [1.0, *(2.0 ** (b - 1) for b in range(1, BINS))]
FEW = 3  # bins with a chance of a use in random tests; later ones have none
CHANCES = st.lists(
    st.lists(st.floats(0.0, 0.99), min_size=FEW, max_size=FEW), min_size=STAGES, max_size=STAGES
)


def table(rows):
    """Return chances by stage and bin, 0 behind those that are given."""
    chances = np.zeros((1, STAGES, BINS))
    for stage, row in enumerate(rows):
        chances[0, stage, : len(row)] = row
    return chances


def stages_ahead(stage, again):
    """Return the stages of this wait and all that may follow; the last one counts ROUNDS times."""
    if not again:
        return [stage]
    return [*range(stage, STAGES - 1), *[STAGES - 1] * ROUNDS]


def of_rules(chances, stage, age_bin, again):
    """Yield uses and requests of each rule: in each wait, the bin before which it is let go."""
    ahead = stages_ahead(stage, again)
    choices = [range(age_bin + 1, FEW + 1), *[range(FEW + 1)] * (len(ahead) - 1)]
    for stops in product(*choices):
        uses = requests = 0.0  # from the last wait back to the present one
        for level in reversed(range(len(ahead))):
            first = age_bin if level == 0 else 0
            more = (uses, requests)
            uses = requests = 0.0
            for b in reversed(range(first, stops[level])):
                chance = chances[ahead[level]][b]
                uses = chance * (1.0 + more[0]) + (1.0 - chance) * uses
                requests = chance * more[1] + (1.0 - chance) * requests
                requests += WIDTHS[b] * (1.0 - chance / 2)
        yield uses, requests


@settings(max_examples=12, deadline=None)
@given(rows=CHANCES, stage=st.integers(1, STAGES - 1), age_bin=st.integers(0, FEW - 1))
def test_it_is_the_best_ratio_of_uses_to_requests_of_all_rules(rows, stage, age_bin):
    """Gittins: the index is the greatest ratio of uses to the requests in which they are earned."""
    for again in (False, True):
        rules = of_rules(rows, stage, age_bin, again)
        best = max(uses / requests for uses, requests in rules)
        index = indices(table(rows), np.array([again]))[0][0, stage, age_bin]
        if best > PRICES[1]:
            assert index <= best * (1 + 1e-9)
            assert index >= best / STEP * (1 - 1e-9)
        else:
            assert index <= PRICES[1] * STEP


@given(rows=CHANCES)
def test_uses_are_those_of_one_who_never_lets_go(rows):
    for again in (False, True):
        _, uses = indices(table(rows), np.array([again]))
        for stage in range(STAGES):
            expected = 0.0
            for ahead in reversed(stages_ahead(stage, again)):
                kept = np.prod([1.0 - chance for chance in rows[ahead]])
                expected = (1.0 - kept) * (1.0 + expected)
            # The least price stands for none.
            assert uses[0, stage] == pytest.approx(expected, abs=STAGES * ROUNDS * 8 * PRICES[0])


@given(rows=CHANCES, at=st.tuples(st.integers(0, STAGES - 1), st.integers(0, FEW - 1)))
def test_more_chance_is_worth_more(rows, at):
    """What precedes the chance that grows; as exact as the grid of prices."""
    stage, age_bin = at
    more = [list(row) for row in rows]
    more[stage][age_bin] = min(0.99, more[stage][age_bin] + 0.2)
    (index, uses), (grown, further) = (indices(table(r), np.array([True])) for r in (rows, more))
    assert (further[0, : stage + 1] >= uses[0, : stage + 1] - 1e-12).all()
    assert (grown[0, :stage] * STEP >= index[0, :stage] * (1 - 1e-9)).all()
    before = slice(0, age_bin + 1)
    assert (grown[0, stage, before] * STEP >= index[0, stage, before] * (1 - 1e-9)).all()


@pytest.mark.parametrize("rate", [0.3, 0.05, 0.004, 0.0005])
@pytest.mark.parametrize("again", [False, True])
def test_of_a_constant_hazard_it_is_the_hazard(rate, again):
    """Each request brings a use with the same chance, whatever came before: so does the index."""
    row = [rate, *(1.0 - (1.0 - rate) ** width for width in WIDTHS[1:])]
    chances = np.minimum(np.array(row), 0.999)
    index, _ = indices(np.broadcast_to(chances, (1, STAGES, BINS)), np.array([again]))
    # In a bin a use is taken to come half-way; so only bins that are short beside a wait are exact.
    short = [b for b in range(BINS) if WIDTHS[b] * rate < 0.3]
    assert index[0][:, short] == pytest.approx(rate, rel=STEP - 1.0)
    assert (index[0][:, short] <= rate * 1.2).all()


def by_whole_requests(chances, price):
    """Return V of a point by its age in requests, used once, which may be let go at any of them.

    The uses of a bin come evenly over its requests, each in the middle of one.
    """
    hazard = [
        chance / width / (1.0 - j * chance / width)
        for chance, width in zip(chances, WIDTHS, strict=False)
        for j in range(int(width))
    ]
    values = np.zeros(len(hazard) + 1)
    for age in reversed(range(len(hazard))):
        use = hazard[age]
        kept = use + (1.0 - use) * values[age + 1] - price * (1.0 - use / 2)
        values[age] = max(0.0, kept)
    return values


@pytest.mark.parametrize("seed", range(6))
def test_bins_are_as_good_as_whole_requests(seed):
    """A dynamic programme over single requests: letting go inside a bin gains nothing."""
    rng = np.random.default_rng(seed)
    bins = 8
    chances = rng.random(bins) ** 2
    index, _ = indices(table([chances] * STAGES), np.array([False]))
    for age_bin in range(bins):
        age = int(sum(WIDTHS[:age_bin]))
        low, high = 0.0, 3.0
        for _ in range(60):
            price = (low + high) / 2
            low, high = (
                (price, high) if by_whole_requests(chances, price)[age] > 0 else (low, price)
            )
        assert low / STEP * (1 - 1e-6) <= index[0, 0, age_bin] <= low * (1 + 1e-6)


def test_simulated_waits_earn_the_index():
    """Who keeps points while the index exceeds a price earns V, less the price of their time."""
    rng = np.random.default_rng(1)
    rows = np.array([[0.0, 0.02, 0.05, 0.1, 0.3], [0.3, 0.3, 0.1, 0.0, 0.0]] + [[0.5] * 5] * 2)
    index, _ = indices(table(rows), np.array([True]))
    price = 0.1
    earned = []
    for _ in range(4000):
        total, stage, age_bin, level = 0.0, 0, 0, 0
        while level < STAGES - 1 + ROUNDS and age_bin < 5 and index[0, stage, age_bin] > price:
            chance, width = rows[stage][age_bin], WIDTHS[age_bin]
            if rng.random() < chance:
                total += 1.0 - price * width / 2
                stage, age_bin, level = min(stage + 1, STAGES - 1), 0, level + 1
            else:
                total -= price * width
                age_bin += 1
        earned.append(total)
    value = max(u - price * r for u, r in of_rules_of(rows, price))
    error = np.std(earned) / np.sqrt(len(earned))
    assert np.mean(earned) == pytest.approx(value, abs=4 * error)


def of_rules_of(rows, price):
    """Yield uses and requests of the best rule at a price, from the last wait back."""
    uses = requests = 0.0
    for stage in reversed(stages_ahead(0, True)):
        more = (uses, requests)
        uses = requests = 0.0
        for b in reversed(range(5)):
            chance = rows[stage][b]
            kept = (
                chance * (1.0 + more[0]) + (1.0 - chance) * uses,
                chance * more[1] + (1.0 - chance) * requests + WIDTHS[b] * (1.0 - chance / 2),
            )
            uses, requests = kept if kept[0] > price * kept[1] else (0.0, 0.0)
    yield uses, requests


def test_a_kind_that_is_seldom_used_but_often_once_it_was_counts_both():
    once = table([[0.05] * 3] * STAGES)
    again = table([[0.05] * 3, *[[0.6] * 3] * (STAGES - 1)])
    first = [indices(chances, np.array([True]))[0][0, 0, 0] for chances in (once, again)]
    assert first[1] > 2 * first[0]
    alone = [indices(chances, np.array([False]))[0][0, 0, 0] for chances in (once, again)]
    assert alone[0] == alone[1]
