"""Hand-worked positions of the placers that follow a rule."""

from __future__ import annotations

from collections import Counter

import pytest

from policies.placement.random import Random
from policies.registry import create
from tests.contracts.prefixes import build_prefix, place


@pytest.mark.parametrize(
    ("spec", "length", "resume", "expected"),
    [
        ("none", 100, 0, []),
        ("last", 100, 0, [100]),
        ("last", 100, 99, [100]),
        ("dense", 5, 2, [3, 4, 5]),
        ("block:size=30", 100, 0, [30, 60, 90]),
        ("block:size=30", 90, 30, [60, 90]),
        ("block:size=30", 90, 59, [60, 90]),
        ("block:size=30", 29, 0, []),
        ("sqrt", 10, 0, [4, 8]),
        ("sqrt", 9, 0, [3, 6, 9]),
        ("sqrt", 9, 3, [6, 9]),
        ("sqrt", 1, 0, [1]),
        ("dyadic", 1023, 0, []),
        ("dyadic", 4096, 0, [1024, 2048, 4096]),
        ("dyadic:first=768", 5000, 1024, [2048, 4096]),
        ("dyadic:first=1", 9, 0, [1, 2, 4, 8]),
        ("balanced:budget=1", 9, 0, [5]),
        ("balanced:budget=4", 9, 0, [2, 4, 6, 8]),
        ("balanced:budget=50", 3, 0, [1, 2, 3]),
    ],
)
def test_positions(spec: str, length: int, resume: int, expected: list[int]) -> None:
    placed = place(create("placer", spec), build_prefix([length], resume=resume))
    assert list(placed) == expected


def test_branch_places_where_prompts_diverged_and_at_the_end() -> None:
    stops, diverged = [10, 25, 40, 60], [10, 40, 60]
    branch = create("placer", "branch")
    assert place(branch, build_prefix(stops, diverged=diverged)) == [10, 40, 60]
    assert place(branch, build_prefix(stops, diverged=diverged, resume=10)) == [40, 60]
    assert place(branch, build_prefix(stops)) == [60]


def test_random_depends_on_the_prompt_and_the_seed_only() -> None:
    prefix = build_prefix([400, 1000])
    first = place(Random(budget=5, seed=1), prefix)
    assert len(first) == 5
    assert first == place(Random(budget=5, seed=1), build_prefix([400, 1000]))
    assert first != place(Random(budget=5, seed=2), prefix)
    assert first != place(Random(budget=5, seed=1), build_prefix([401, 1000]))


def test_random_is_uniform() -> None:
    # 20,000 positions over 10 places: a deviation of 250 is about six standard deviations.
    counts = Counter(
        position
        for seed in range(10_000)
        for position in place(Random(2, seed), build_prefix([10]))
    )
    assert sorted(counts) == list(range(1, 11))
    assert max(abs(count - 2000) for count in counts.values()) < 250
