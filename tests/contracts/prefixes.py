"""Prefixes for the tests of placers."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Placer, Prefix, Window


def build_prefix(
    stops: Sequence[int],
    *,
    resume: int = 0,
    step: int = 1,
    diverged: Sequence[int] = (),
    label: int = -1,
    session: int = -1,
) -> Prefix:
    """Return a prompt over a chain of spans that end at `stops`; prompts diverged at some."""
    span = KvSpan(None, 0, 0)
    for stop in stops:
        span = KvSpan(span, span.stop, stop)
        span.children_seen = 2 if stop in diverged else 1
    return Prefix(
        prompt_tokens=span.stop,
        resume=resume,
        overlap=resume,
        step=step,
        session=session,
        label=label,
        span=span,
    )


def place(placer: Placer, prefix: Prefix) -> Sequence[int]:
    """Return where a placer wants states in a prompt that runs at once."""
    return placer.place(prefix, Window(prefix.resume, prefix.end_tokens or prefix.prompt_tokens))


@st.composite
def prefixes(draw: st.DrawFn, longest: int = 1_000_003) -> Prefix:
    length = draw(st.one_of(st.integers(1, 40), st.integers(1, longest), st.just(longest)))
    inner = draw(st.lists(st.integers(1, length), max_size=5, unique=True))
    stops = sorted({*inner, length})
    return build_prefix(
        stops,
        resume=draw(st.one_of(st.just(0), st.just(length - 1), st.integers(0, length - 1))),
        step=draw(st.sampled_from([1, 16, 64, 512])),
        diverged=draw(st.lists(st.sampled_from(stops), max_size=3)),
        label=draw(st.integers(-1, 3)),
        session=draw(st.integers(-1, 3)),
    )
