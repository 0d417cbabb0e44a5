"""Marconi's placer, worked by hand."""

from __future__ import annotations

import pytest

from policies.registry import create
from tests.simulator.replays import replay


def saved(prompts, placer, capacity=None, answers=None):
    how = {"capacity_bytes": capacity, "answers": answers, "server": "instant"}
    result = replay(prompts, None, lambda: create("placer", placer), **how)
    return result.columns["saved_tokens"].tolist()


def test_the_third_prompt_finds_the_branch_point():
    assert saved([(1, 2, 3), (1, 2, 4), (1, 2, 5)], "marconi") == [0, 0, 2]


def test_the_next_turn_resumes_behind_the_answer():
    assert saved([(1, 2), (1, 2, 3, 4, 5)], "marconi", answers=[(3, 4), (6,)]) == [0, 4]


@pytest.mark.parametrize(("placer", "tokens"), [("marconi", 0), ("marconi:remember=true", 2)])
def test_a_branch_point_that_has_left_must_be_found_again_unless_it_is_remembered(placer, tokens):
    # Room for 23 bytes: 13 tokens and a state, which evict all of (1, 2), or 3 and two states.
    prompts = [(1, 2, 3), (7,) * 13, (1, 2, 4), (1, 2, 5)]
    assert saved(prompts, placer, capacity=23) == [0, 0, 0, tokens]
