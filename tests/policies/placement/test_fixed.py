"""Hand-worked positions of the placers with fixed distances, of `published` and of `branch`."""

from __future__ import annotations

import pytest

from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Overlap
from tests.contracts.prefixes import build_prefix, place


@pytest.mark.parametrize(
    ("spec", "length", "resume", "expected"),
    [
        ("from_end:offsets=0+30", 100, 0, [70, 100]),
        ("from_end:offsets=30+0+30", 100, 70, [100]),
        ("from_end:offsets=256", 100, 0, []),
        ("offsets", 100, 0, [100]),
        ("offsets:start=10+20,end=20", 100, 10, [20, 80]),
        ("offsets:start=80,end=20", 100, 0, [80]),
        ("offsets:start=200", 100, 0, []),
        ("interval:every=30", 100, 0, [30, 60, 90]),
        ("interval:every=30", 100, 25, [55, 85]),
        ("interval:every=30", 100, 80, []),
        ("published:budget=3", 10, 0, [2, 4, 6]),  # 10 // 4 = 2, the rest in the last gap
        ("published:budget=30", 10, 7, [8, 9, 10]),
    ],
)
def test_positions(spec: str, length: int, resume: int, expected: list[int]) -> None:
    placed = place(create("placer", spec), build_prefix([length], resume=resume))
    assert list(placed) == expected


@pytest.mark.parametrize("text", ["x", "1+", "+1", "-1", "1.5", "1+-2", "12345678901234567"])
def test_bad_distances_are_named(text: str) -> None:
    for parameter, spec in (
        ("end", f"from_end:offsets={text}"),
        ("start", f"offsets:start={text}"),
    ):
        with pytest.raises(UsageError, match=f"{parameter}: expected distances in tokens"):
            create("placer", spec)


def test_published_plans_after_every_tenth_request_in_bins_of_64() -> None:
    placer = create("placer", "published:budget=1")
    for _ in range(9):
        placer.observe(Overlap(200, 10_000))
    assert list(place(placer, build_prefix([900]))) == [450]
    placer.observe(Overlap(0, 10_000))  # a miss, which changes nothing but the total
    assert list(place(placer, build_prefix([900]))) == [192]
    assert list(place(placer, build_prefix([191]))) == []  # the one list is cut, not planned again
    for _ in range(9):
        placer.observe(Overlap(700, 10_000))
    assert list(place(placer, build_prefix([900]))) == [192]
    placer.observe(Overlap(700, 10_000))
    assert list(place(placer, build_prefix([900]))) == [640]  # 640 * 9.56 > 192 * 17.7


def test_branch_may_guess_where_a_first_prompt_is_left() -> None:
    branch = create("placer", "branch:first=10")
    assert place(branch, build_prefix([60])) == [50, 60]
    assert place(branch, build_prefix([40, 60], diverged=[40])) == [40, 50, 60]
    assert place(branch, build_prefix([40, 60], resume=50)) == [60]
    assert place(branch, build_prefix([9])) == [9]
