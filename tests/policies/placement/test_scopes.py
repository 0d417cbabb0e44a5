"""Whose law the learned placers plan for, and where its depths are counted from."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.estimation.coordinates import SharpestCoordinate, counted, last_branch
from policies.placement.learned import LearnedPlacer
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Prefix
from tests.contracts.prefixes import build_prefix, place, prefixes

NAMES = ("optimal", "greedy", "thinned", "robust")
every_placer = pytest.mark.parametrize("name", NAMES)


def learned(spec: str) -> LearnedPlacer:
    placer = create("placer", spec)
    assert isinstance(placer, LearnedPlacer)
    return placer


def path(*stops: int, diverged: tuple[int, ...] = ()) -> KvSpan:
    return build_prefix(stops, diverged=diverged).span


def left_at(depth: int, length: int, *branches: int, **known: int) -> Overlap:
    """Return a prompt that left an earlier one at `depth`, behind branch points known before."""
    return Overlap(depth, length, span=path(*branches, depth, length, diverged=branches), **known)


def prompt(length: int, overlap: int, *, resume: int = 0, step: int = 1, label: int = -1) -> Prefix:
    prefix = build_prefix([overlap, length] if overlap else [length], step=step, label=label)
    prefix.overlap, prefix.resume = overlap, resume
    return prefix


# --- scopes ---------------------------------------------------------------------------------


@every_placer
def test_a_label_is_planned_as_itself_once_it_has_shown_enough(name: str) -> None:
    extra = ",margin=0" if name == "robust" else ""
    placer = learned(f"{name}:budget=1,scope=label{extra}")
    for _ in range(20):
        placer.observe(Overlap(500, 1000, label=0))
        placer.observe(Overlap(700, 1000, label=1))
    # Label 1: 700 with (20 + 10 / 2) / 30 saves 583, 500 with 1 saves 500; all: 350 and 500.
    assert [list(place(placer, prompt(1000, 0, label=label))) for label in (0, 1, 2, -1)] == [
        [500], [700], [500], [500],
    ]  # fmt: skip


def test_a_document_is_planned_as_itself_once_it_has_shown_enough() -> None:
    placer = learned("optimal:budget=1,scope=document,replan=1")
    for i in range(40):
        placer.observe(Overlap(500, 1000, session=i, label=0))
    seen: list[int] = []
    for _ in range(30):
        placer.observe(Overlap(700, 1000, session=99, label=0))
        seen += place(placer, build_prefix([1000], session=99, label=0))
    assert seen[0] == 500
    assert seen[-1] == 700
    assert sorted(seen) == seen
    # Its label has seen 30 of 70 there, which is not enough: 300 against 500.
    assert list(place(placer, build_prefix([1000], session=3, label=0))) == [500]


def test_a_law_is_settled_every_replan_requests() -> None:
    placer = learned("optimal:budget=1,scope=document,replan=5")
    placer.observe(Overlap(500, 1000, session=1))
    for i in range(1, 6):
        placer.observe(Overlap(700, 1000, session=1))
        assert list(place(placer, build_prefix([1000], session=1))) == [700 if i == 5 else 500]


# --- coordinates ----------------------------------------------------------------------------


def test_the_last_branch_is_one_that_was_known_before() -> None:
    assert last_branch(Overlap(70, 100)) == 0  # no tree
    assert last_branch(left_at(70, 100, 20, 50)) == 50
    returned = Overlap(50, 100, span=path(20, 50, 100, diverged=(20, 50)))
    assert last_branch(returned) == 20  # this prompt is the second way at 50
    returned.span.parent.children_seen = 3
    assert last_branch(returned) == 50
    ended = Overlap(50, 50, span=path(20, 50, diverged=(20, 50)))
    assert last_branch(ended) == 50  # it took no way of its own


def test_overlaps_counted() -> None:
    overlap = left_at(70, 100, 50)
    assert counted(overlap, "start").depth == 70
    assert (counted(overlap, "end").depth, counted(overlap, "end").prompt_tokens) == (31, 31)
    assert (counted(overlap, "branch").depth, counted(overlap, "branch").prompt_tokens) == (20, 50)
    miss = Overlap(0, 100)
    assert {counted(miss, name).depth for name in ("start", "end", "branch")} == {0}


@every_placer
def test_from_the_end(name: str) -> None:
    extra = ",margin=0" if name == "robust" else ""
    placer = learned(f"{name}:budget=1,coordinate=end{extra}")
    for length in (500, 800, 300):
        placer.observe(Overlap(length - 40, length))
    assert list(place(placer, build_prefix([2000]))) == [1960]
    assert list(place(placer, build_prefix([2000], step=64))) == [1960]  # floored to 1920
    assert list(place(placer, build_prefix([30]))) == []


@every_placer
def test_from_the_branch(name: str) -> None:
    extra = ",margin=0" if name == "robust" else ""
    placer = learned(f"{name}:budget=2,coordinate=branch,replan=1{extra}")
    for branch in (300, 700, 100):
        placer.observe(left_at(branch + 50, branch + 90, branch))
    assert list(place(placer, prompt(5000, 1000))) == [1000, 1050]
    assert list(place(placer, prompt(5000, 1000, resume=1000))) == [1050]
    assert list(place(placer, prompt(1030, 1000, resume=1000))) == [1030]
    assert list(place(placer, prompt(5000, 0))) == [50]
    # Floored to 64, 1050 is 1024: behind 960 it is of use, behind 1024 it is not.
    assert list(place(placer, prompt(5000, 1000, step=64))) == [1000, 1050]
    assert list(place(placer, prompt(5000, 1024, resume=1024, step=64))) == []
    one = learned(f"{name}:budget=1,coordinate=branch{extra}")
    one.observe(left_at(350, 390, 300))
    assert list(place(one, prompt(5000, 1000))) == [1000]  # the budget holds


def test_auto_learns_the_sharpest_coordinate_of_each_label() -> None:
    rng = random.Random(0)
    placer = learned("optimal:budget=1,coordinate=auto,scope=label")
    assert placer.coordinate(0) == "start"
    for _ in range(120):
        for label in range(3):
            length, branch = rng.randrange(4000, 9000), rng.randrange(300, 3000)
            depth = (2500, length - 70, branch + 600)[label]
            placer.observe(left_at(depth, length, min(branch, depth - 1), label=label))
    assert [placer.coordinate(label) for label in range(3)] == ["start", "end", "branch"]
    assert list(place(placer, prompt(7000, 0, label=0))) == [2500]
    assert list(place(placer, prompt(7000, 0, label=1))) == [7000 - 70]
    assert list(place(placer, prompt(7000, 1000, resume=1000, label=2))) == [1600]
    assert placer.coordinate(7) == placer.coordinate()  # unknown: that of all


def test_the_sharpest_coordinate_by_hand() -> None:
    sharpest = SharpestCoordinate()
    for _ in range(7):
        sharpest.judge(3, {"start": 1, "end": 2, "branch": 0})
    assert sharpest.best(3) == "start"  # too little was seen
    sharpest.judge(3, {"start": 1, "end": 2, "branch": 0})
    assert sharpest.best(3) == sharpest.best() == "end"
    for _ in range(8):
        sharpest.judge(4, {"start": 9, "end": 0, "branch": 0})
    assert (sharpest.best(3), sharpest.best(4), sharpest.best(5)) == ("end", "start", "start")


# --- the contract, for all of them ----------------------------------------------------------

SPECS = [
    f"{name}:budget=4,scope={scope},coordinate={coordinate},replan=3"
    for name in NAMES
    for scope in ("global", "label", "document")
    for coordinate in ("end", "branch", "auto")
]


@st.composite
def histories(draw: st.DrawFn) -> list[Overlap]:
    overlaps = []
    for _ in range(draw(st.integers(0, 20))):
        branch, depth, length = sorted(draw(st.sets(st.integers(1, 900), min_size=3, max_size=3)))
        known = {"label": draw(st.integers(-1, 2)), "session": draw(st.integers(-1, 2))}
        overlaps.append(
            draw(
                st.sampled_from(
                    [Overlap(0, length, **known), left_at(depth, length, branch, **known)]
                )
            )
        )
    return overlaps


@settings(max_examples=150, deadline=None)
@given(
    spec=st.sampled_from(SPECS),
    prefix=prefixes(1000),
    other=prefixes(1000),
    history=histories(),
    overlap=st.floats(0, 1),
)
def test_positions_ascend_within_reach_and_budget_and_placing_is_pure(
    spec: str, prefix: Prefix, other: Prefix, history: list[Overlap], overlap: float
) -> None:
    spread = int(overlap * (prefix.prompt_tokens - prefix.resume))
    prefix.overlap = prefix.resume + spread
    placer, witness = learned(spec), learned(spec)
    for seen in history:
        placer.observe(seen)
        witness.observe(seen)
        place(witness, other)
    positions = list(place(placer, prefix))
    assert list(place(witness, prefix)) == list(place(placer, prefix)) == positions
    assert len(positions) <= 4
    assert all(one < other for one, other in pairwise(positions))
    assert all(prefix.resume < position <= prefix.prompt_tokens for position in positions)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("scope=session", "scope: expected global, label or document, found 'session'"),
        ("coordinate=middle", "coordinate: expected start, end, branch or auto, found 'middle'"),
        ("scope=label,decay=0.9", "scope: expected global beside decay, found 'label'"),
        ("scope=document,train=9", "scope: expected global beside train, found 'document'"),
    ],
)
@every_placer
def test_bad_parameters_are_named(name: str, parameters: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create("placer", f"{name}:budget=2,{parameters}")
