"""Small traces from lists of tokens, and a naive stack of prefixes to hold figures against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from simulator.trace.trace import Trace
from workloads.prefixes.prompts import TokenLists

Prefix = tuple[int, ...]

token_lists = st.lists(st.integers(0, 1), min_size=1, max_size=7)
requests = st.lists(
    st.tuples(token_lists, st.lists(st.integers(0, 1), max_size=3), st.integers(0, 2)),
    min_size=1,
    max_size=14,
)


def trace_of(
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]] | None = None,
    times: Sequence[float] | None = None,
    session: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
) -> Trace:
    lists = TokenLists()
    for at, prompt in enumerate(prompts):
        answer = answers[at] if answers is not None else []
        known = np.array(answer, dtype=np.int32) if len(answer) else None
        lists.add(np.array(prompt, dtype=np.int32), known)
    lengths = np.array([len(prompt) for prompt in prompts])
    interned = lists.intern(lengths, None)
    count = len(prompts)
    trace = Trace(
        name="small",
        tree=interned.tree,
        leaf=interned.leaf,
        arrival_seconds=None if times is None else np.array(times, dtype=np.float64),
        output_tokens=np.array(outputs or [0] * count, dtype=np.int64),
        session=np.array(session or [-1] * count, dtype=np.int32),
        label=np.full(count, -1, dtype=np.int32),
        after=interned.after,
    )
    assert trace.problem() is None
    return trace


class NaiveStack:
    """Prefixes from the most recently used: of one use the shortest first."""

    def __init__(self) -> None:
        self.prefixes: list[Prefix] = []

    def distance(self, prefix: Prefix) -> int | None:
        """Return how many prefixes a cache must hold to find this one."""
        return self.prefixes.index(prefix) + 1 if prefix in self.prefixes else None

    def use(self, tokens: Prefix) -> None:
        mine = [tokens[:stop] for stop in range(1, len(tokens) + 1)]
        self.prefixes = mine + [prefix for prefix in self.prefixes if prefix not in set(mine)]
