"""Serve a few prompts, written as text, from a cache that given policies manage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from policies.registry import create
from simulator.cache.layout import unified
from simulator.cache.policy_cache import PolicyCache
from simulator.costs import schema
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext, Sizes
from simulator.trace.grid import Grid
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class TryoutResult:
    """Result of serving a few prompts.

    Parameters
    ----------
    saved
        Tokens of each prompt that were not computed: its resume point.
    written
        The positions at which each prompt stored a state, in tokens.
    states
        What is cached at the end, sorted: the prefixes with a state behind their last token.
    kv
        The same for KV: the longest prefixes whose KV is cached.
    """

    saved: list[int]
    written: list[list[int]]
    states: list[str]
    kv: list[str]


def serve(
    prompts: Sequence[str],
    *,
    placer: str = "last",
    eviction: str = "lru",
    admission: str = "always",
    capacity_bytes: int | None = None,
    state_bytes: int = 1,
    answers: Sequence[str] | None = None,
    seconds: Sequence[float] | None = None,
    sessions: Sequence[int] | None = None,
    labels: Sequence[int] | None = None,
) -> TryoutResult:
    """Serve prompts one after another from a cache that these policies manage.

    A character is a token, which takes a second to prefill and a byte of KV.

    Parameters
    ----------
    prompts
        The prompts, none of them empty.
    placer, eviction, admission
        Policy strings, such as "block:size=4".
    capacity_bytes
        One budget for KV and states; None is unbounded.
    state_bytes
        Bytes of a state.
    answers
        What the model generates for each prompt; unknown where None.
    seconds
        When each prompt arrives, ascending from 0; entries have no age where None.
    sessions, labels
        Numbers of the session and of the label of each prompt; unknown where None.

    Raises
    ------
    UsageError
        If a policy string is wrong.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["abcd", "abcdef"])
    >>> served.saved, served.states
    ([0, 4], ['abcd', 'abcdef'])
    """
    texts = [*map("".join, zip(prompts, answers, strict=True))] if answers else [*prompts]
    trace = _trace_of(prompts, texts if answers else None, seconds, sessions, labels)
    costs = CostModel(_profile(state_bytes))
    context = CacheContext(Sizes(1, state_bytes), Grid(), costs, capacity_bytes)
    policies = create("placer", placer), create("admission", admission)
    cache = PolicyCache(trace, context, *policies, unified(context, create("eviction", eviction)))
    saved, written = [], []
    for request, now in enumerate(seconds or range(len(prompts))):
        running = cache.admit(request, now)
        assert running is not None  # nothing has to wait where running requests do not count
        cache.plan(running, running.end)
        cache.commit(running, running.end, now)
        saved.append(running.match.resume)
        written.append([state.position for state in running.written])
        cache.release(running)
    ends = [(texts[span.request], span) for span in cache.tree]
    states = [text[: state.position] for text, span in ends for state in span.checkpoints]
    kv = [text[: s.kv_end] for text, s in ends if s.resident and not s.children_resident]
    return TryoutResult(saved, written, sorted(states), sorted(kv))


def _trace_of(
    prompts: Sequence[str],
    after: Sequence[str] | None,
    seconds: Sequence[float] | None,
    sessions: Sequence[int] | None,
    labels: Sequence[int] | None,
) -> Trace:
    """Return the trace of prompts; `after` are these with their answers, where they are known."""
    ordered = sorted([*prompts, *(after or ())])
    # Of sorted texts, neighbours share all prefixes that any two share.
    ends = {*ordered, *(_shared(*pair) for pair in pairwise(ordered))} - {""}
    nodes = ["", *sorted(ends, key=lambda end: (len(end), end))]
    number = {end: node for node, end in enumerate(nodes)}
    parents = [
        max(above for above in range(node) if end.startswith(nodes[above]))
        for node, end in enumerate(nodes)
        if node
    ]
    stop = np.array([len(end) for end in nodes])
    parent = np.array([-1, *parents], dtype=np.int32)
    unknown = [-1] * len(prompts)
    return Trace(
        name="tried out",
        tree=PrefixTree(parent, np.where(parent < 0, 0, stop[parent]), stop),
        leaf=np.array([number[prompt] for prompt in prompts], dtype=np.int32),
        arrival_seconds=None if seconds is None else np.array(seconds, dtype=np.float64),
        output_tokens=np.zeros(len(prompts), dtype=np.int64),
        session=np.array(sessions or unknown, dtype=np.int32),
        label=np.array(labels or unknown, dtype=np.int32),
        after=None if after is None else np.array([number[end] for end in after], dtype=np.int32),
    )


def _shared(one: str, other: str) -> str:
    """Return the longest prefix of both."""
    shared = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        shared += 1
    return one[:shared]


def _profile(state_bytes: int) -> schema.Profile:
    """Return a profile of round numbers: a second for each token, copies take no time."""
    return schema.Profile(
        schema_version=1,
        profile_id="tried-out",
        kind="toy",
        source="round numbers",
        licence="none",
        created="2026-12-01",
        hardware=schema.Hardware("none"),
        model=schema.ProfiledModel("none"),
        state=schema.State(0, 0, state_bytes),
        kv=schema.Kv(1),
        prefill=schema.Prefill(schema.CostTable((1, 2), (1e6, 2e6)), 0.0, schema.Valid(1, 1)),
        checkpoint=schema.CheckpointCost(0.0, 0.0),
        io=schema.Io(schema.Link(0.0, 1e12)),
    )
