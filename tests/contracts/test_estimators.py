"""What every registered overlap estimator promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import create
from simulator.plugins.protocols import Law, Overlap
from tests.contracts.plugins import names

overlaps = st.builds(
    Overlap,
    depth=st.integers(0, 12),
    prompt_tokens=st.integers(1, 10),
    label=st.integers(-1, 1),
)

every_estimator = pytest.mark.parametrize("name", names("estimator"))


def same(one: Law, other: Law) -> bool:
    return (
        one.depths.tolist() == other.depths.tolist()
        and one.weights.tolist() == other.weights.tolist()
        and one.misses == other.misses
    )


@every_estimator
def test_the_law_is_empty_before_the_first_observation(name: str) -> None:
    law = create("estimator", name).law()
    assert len(law.depths) == len(law.weights) == 0
    assert law.misses == 0


@every_estimator
def test_scope_and_coordinate_are_known_words(name: str) -> None:
    estimator = create("estimator", name)
    assert estimator.scope in {"global", "label", "document"}
    assert estimator.coordinate in {"start", "end", "branch"}


@every_estimator
@settings(max_examples=100)
@given(history=st.lists(overlaps, max_size=150))
def test_laws_are_well_formed_and_versioned(name: str, history: list[Overlap]) -> None:
    estimator = create("estimator", name)
    before = estimator.law()
    for overlap in history:
        estimator.observe(overlap)
        law = estimator.law()
        assert law is estimator.law()
        assert law.depths.dtype == np.int64
        assert law.weights.dtype == np.float64
        assert len(law.depths) == len(law.weights)
        assert (np.diff(law.depths, prepend=0) > 0).all()
        assert (law.weights >= 0).all()
        assert np.isfinite(law.weights).all()
        assert law.misses >= 0
        assert (law.version == before.version) == same(law, before)
        before = law


@every_estimator
@given(history=st.lists(overlaps, max_size=50))
def test_looking_at_the_law_does_not_change_it(name: str, history: list[Overlap]) -> None:
    watched, left_alone = create("estimator", name), create("estimator", name)
    for overlap in history:
        watched.observe(overlap)
        watched.law()
        left_alone.observe(overlap)
    assert same(watched.law(), left_alone.law())


@every_estimator
def test_a_depth_beyond_the_prompt_counts_as_its_length(name: str) -> None:
    estimator = create("estimator", name)
    estimator.observe(Overlap(depth=30, prompt_tokens=20))
    assert estimator.law().depths.tolist() == [20]


@every_estimator
def test_a_miss_weighs_as_much_as_an_overlap(name: str) -> None:
    estimator = create("estimator", name)
    estimator.observe(Overlap(depth=0, prompt_tokens=20))
    misses = estimator.law().misses
    estimator = create("estimator", name)
    estimator.observe(Overlap(depth=5, prompt_tokens=20))
    assert estimator.law().weights.tolist() == [misses]
