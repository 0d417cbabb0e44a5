"""Where prompts leave what is known, on spans made by hand."""

from __future__ import annotations

import pytest

from policies.worth.sightings import (
    ANSWERED,
    BEFORE_END,
    CONTINUED,
    DIVERGED,
    END,
    INSIDE,
    NEW,
    REPEATED,
    REPEATED_AGAIN,
    Sightings,
)
from simulator.plugins.entries import KvSpan
from simulator.trace.grid import Grid


def known(grid: Grid | None = None) -> tuple[Sightings, KvSpan, KvSpan]:
    """Return sightings of one request with a prompt of 100 tokens and an answer of 40."""
    sightings = Sightings()
    sightings.grid = grid or Grid()
    prompt = KvSpan(KvSpan(None, 0, 0), 0, 100, request=0)
    answer = KvSpan(prompt, 100, 140, request=0)
    sightings.add_prompt(prompt, 0, NEW, -1)
    sightings.add_answer(answer, 100, NEW, -1)
    return sightings, prompt, answer


@pytest.mark.parametrize(
    ("overlap", "length", "place", "kind"),
    [
        (140, 200, END, ANSWERED),
        (130, 200, INSIDE, DIVERGED),
        (100, 200, END, CONTINUED),
        (90, 160, INSIDE, DIVERGED),
        (60, 160, INSIDE, NEW),
        (0, 160, INSIDE, NEW),
    ],
)
def test_places(overlap: int, length: int, place: int, kind: int) -> None:
    sightings, prompt, answer = known()
    span = answer if overlap > 100 else prompt
    if overlap and overlap not in {100, 140}:
        span = span.cut(overlap, 0)
    leaf = KvSpan(span if overlap else prompt.parent, overlap, length, request=1)
    met, segment, *rest = sightings.meet(leaf, overlap)
    assert (met.stop, *rest) == (overlap, place, kind)
    assert (segment is None) == (overlap == 0)


def test_a_repeated_prompt_returns_to_the_token_before_the_end() -> None:
    sightings, prompt, _ = known()
    _, segment, *rest = sightings.meet(prompt, 100)
    assert rest == [BEFORE_END, REPEATED]
    assert segment is not None
    segment.repeats += 1
    assert sightings.meet(prompt, 100)[2:] == (BEFORE_END, REPEATED_AGAIN)


def test_where_the_last_checkpoint_lies_before_it_a_repeated_prompt_uses_that() -> None:
    sightings, prompt, _ = known(Grid(alignment=64))
    assert sightings.meet(prompt, 100)[2:] == (END, CONTINUED)


def test_the_answer_of_a_repeated_prompt_is_its_own() -> None:
    sightings, prompt, _ = known()
    second = KvSpan(prompt, 100, 150, request=1)
    sightings.add_answer(second, 100, REPEATED, 3)
    segment = sightings.segment_of(second)
    assert segment is not None
    assert (segment.start, segment.stop, segment.kind, segment.label) == (100, 150, REPEATED, 3)
    assert sightings.segment_of(prompt) is not segment
