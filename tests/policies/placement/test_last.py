"""The ends of prompts and answers, by hand."""

from __future__ import annotations

import pytest

from policies.registry import create
from policies.tryout import planned, serve
from simulator.base.errors import UsageError


@pytest.mark.parametrize(
    ("placer", "written"),
    [
        ("last", [[2], [5]]),
        ("last:where=answer", [[4], [6]]),
        ("last:where=both", [[2, 4], [5, 6]]),
    ],
)
def test_ends_of_prompts_and_answers(placer: str, written: list[list[int]]) -> None:
    served = serve(["ab", "abcde"], placer=placer, answers=["cd", "f"])
    assert served.written == written
    assert served.saved == [0, 2 if placer == "last" else 4]


@pytest.mark.parametrize("where", ["prompt", "answer", "both"])
def test_without_an_answer_it_is_the_end_of_the_prompt(where: str) -> None:
    assert planned(f"last:where={where}", prompt_tokens=7) == [7]


def test_another_end_is_named() -> None:
    with pytest.raises(UsageError, match="where: expected prompt, answer or both"):
        create("placer", "last:where=start")
