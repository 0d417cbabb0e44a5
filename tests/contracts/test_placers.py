"""What every registered placer promises."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.placement import PLACERS
from policies.registry import canonical, create, describe, find
from simulator.base.parameters import REQUIRED
from simulator.plugins.protocols import Overlap, Placer, Prefix
from tests.contracts.plugins import own
from tests.contracts.prefixes import build_prefix, place, prefixes

SAMPLES = {int: "4", float: "0.5", bool: "true", str: "x"}
SPECS = [
    f"{info.name}:{required}" if required else info.name
    for info in describe("placer")
    for required in [
        ",".join(f"{p.name}={SAMPLES[p.type]}" for p in info.parameters if p.default is REQUIRED)
    ]
] + own("placer")

overlaps = st.builds(
    Overlap,
    depth=st.integers(0, 5000),
    prompt_tokens=st.integers(1, 5000),
    session=st.integers(-1, 2),
    label=st.integers(-1, 2),
)

every_placer = pytest.mark.parametrize("spec", SPECS)


def taught(spec: str, history: list[Overlap]) -> Placer:
    placer = create("placer", spec)
    for overlap in history:
        placer.observe(overlap)
    return placer


def test_every_registered_placer_is_covered() -> None:
    assert {*PLACERS} <= {spec.partition(":")[0] for spec in SPECS}


@every_placer
@settings(max_examples=60)
@given(prefix=prefixes(), history=st.lists(overlaps, max_size=25))
def test_positions_ascend_within_reach(spec: str, prefix: Prefix, history: list[Overlap]) -> None:
    positions = place(taught(spec, history), prefix)
    head = list(islice(positions, 2000))  # `dense` and `block` may answer with a long range
    assert all(type(position) is int for position in head)
    assert all(one < other for one, other in pairwise(head))
    if len(positions):
        assert positions[0] > prefix.resume
        assert positions[-1] <= prefix.prompt_tokens


@every_placer
@settings(max_examples=30)
@given(prefix=prefixes(5000), other=prefixes(5000), history=st.lists(overlaps, max_size=25))
def test_placing_is_pure(spec: str, prefix: Prefix, other: Prefix, history: list[Overlap]) -> None:
    placer, witness = create("placer", spec), create("placer", spec)
    for overlap in history:
        placer.observe(overlap)
        witness.observe(overlap)
        place(witness, other)
    first = list(place(placer, prefix))
    place(placer, other)
    assert first == list(place(placer, prefix)) == list(place(witness, prefix))


@every_placer
@settings(max_examples=30)
@given(prefix=prefixes(5000), history=st.lists(overlaps, max_size=25))
def test_a_placer_that_does_not_observe_learns_nothing(
    spec: str, prefix: Prefix, history: list[Overlap]
) -> None:
    if not create("placer", spec).observes:
        assert list(place(taught(spec, history), prefix)) == list(place(taught(spec, []), prefix))


@every_placer
@settings(max_examples=30)
@given(prefix=prefixes(5000), history=st.lists(overlaps, max_size=25))
def test_a_budget_is_kept(spec: str, prefix: Prefix, history: list[Overlap]) -> None:
    if "budget=4" in spec:
        assert len(place(taught(spec, history), prefix)) <= 4


@every_placer
def test_an_implicit_placer_reaches_every_position(spec: str) -> None:
    placer = create("placer", spec)
    if placer.implicit:
        assert list(place(placer, build_prefix([9], resume=3))) == [4, 5, 6, 7, 8, 9]


@every_placer
def test_it_is_documented_and_has_one_spelling(spec: str) -> None:
    info = next(row for row in find(spec) if row.kind == "placer")
    assert info.documentation.summary.endswith(".")
    assert canonical("placer", canonical("placer", spec)) == canonical("placer", spec) == spec
