"""The best single checkpoint against brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.estimation.single import EndDistances, FromBranch, FromStart

DISTANCES = st.lists(st.integers(1, 60), min_size=1, max_size=25)


def first_best(options: list[tuple[int, int]], start: int) -> tuple[int, int]:
    """Return the first (position, number served) of the greatest product; (0, 0) for nothing."""
    best = max(((x - start) * count for x, count in options), default=0)
    if best <= 0:
        return 0, 0
    return next(option for option in options if (option[0] - start) * option[1] == best)


@given(distances=DISTANCES, start=st.integers(0, 50), length=st.integers(1, 80))
def test_from_the_end(distances: list[int], start: int, length: int) -> None:
    stop, total = start + length, len(distances)
    options = [(stop - d, sum(other <= d for other in distances)) for d in sorted(set(distances))]
    position, count = first_best(options, start)
    assert EndDistances(distances).best(start, stop) == (position, count / total)


@given(distances=DISTANCES, start=st.integers(0, 50), length=st.integers(1, 80))
def test_from_the_branch(distances: list[int], start: int, length: int) -> None:
    total = len(distances) + 1
    options = [
        (start + d, sum(other >= d for other in distances))
        for d in sorted(set(distances))
        if d < length
    ]
    position, count = first_best(options, start)
    assert FromBranch(distances, total).best(start, start + length) == (position, count / total)


@given(depths=DISTANCES, start=st.integers(0, 50), length=st.integers(1, 80))
def test_from_the_start(depths: list[int], start: int, length: int) -> None:
    total, stop = len(depths) + 1, start + length
    options = [
        (d, sum(other >= d for other in depths)) for d in sorted(set(depths)) if start < d < stop
    ]
    position, share = FromStart(depths, total).best(start, stop)
    # Shares are rounded there, so that another of equal savings may come first.
    best_position, best_count = first_best(options, start)
    saved, best = (position - start) * round(share * total), (best_position - start) * best_count
    assert saved == best or (position == best_position == 0)
    assert not position or start < position < stop


def test_by_hand() -> None:
    # Of 40 tokens before the end two of four go, of 100 all: 60 * 4 / 4 beats 120 * 2 / 4 on 160.
    law = EndDistances([40, 40, 100, 100])
    assert law.best(0, 160) == (120, 0.5)  # a tie: the shorter distance
    assert law.best(0, 161) == (61, 1.0)
    assert law.best(1000, 1040) == (0, 0.0)
    assert FromBranch([10, 30, 30], 4).best(5, 100) == (35, 0.5)
    assert FromBranch([10, 30, 30], 4).best(5, 35) == (15, 0.75)
    assert FromStart([10, 30, 30], 4).best(5, 100) == (30, 0.5)
    assert FromStart([10, 30, 30], 4).best(5, 30) == (10, 0.75)
    assert FromStart([], 1).best(0, 9) == (0, 0.0)
