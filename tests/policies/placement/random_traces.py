"""Random small traces whose requests continue each other's prompts and answers."""

from __future__ import annotations

from hypothesis import strategies as st

from simulator.trace.trace import Trace
from tests.simulator.prompts import Prompt, trace_of


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Requests of blocks that continue what earlier ones asked or were answered, or parts of it."""
    block = draw(st.integers(1, 4))
    told: list[Prompt] = []  # blocks of prompts and answers
    prompts, answers = [], []
    for _ in range(draw(st.integers(2, 14))):
        start: Prompt = ()
        if told and draw(st.integers(0, 4)):
            other = draw(st.sampled_from(told))
            start = other[: draw(st.integers(0, len(other)))]
        blocks = (*start, *draw(st.lists(st.integers(0, 2), max_size=4))) or (0,)
        more = tuple(draw(st.lists(st.integers(0, 2), max_size=3)))
        cut = draw(st.integers(0, block - 1))  # of the last block, where nothing follows it
        prompts.append(_tokens(blocks, block, 0 if more else cut))
        answers.append(_tokens(more, block, cut) if more else ())
        told.append((*blocks, *more))
    times = sorted(draw(st.lists(st.integers(0, 40), min_size=len(prompts), max_size=len(prompts))))
    answered = draw(st.booleans())
    return trace_of(prompts, [float(t) for t in times], block, answers if answered else None)


def _tokens(blocks: Prompt, size: int, cut: int) -> Prompt:
    tokens = tuple(token for token in blocks for _ in range(size))
    return tokens[: len(tokens) - cut]
