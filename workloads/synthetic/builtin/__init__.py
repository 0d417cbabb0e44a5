"""The built-in workload: questions about shared documents, system prompts, and chats."""

from __future__ import annotations

import numpy as np

from simulator.trace.trace import Trace
from workloads.arrivals import ArrivalProcess, Poisson
from workloads.prefixes.interning import intern_runs
from workloads.synthetic.builtin.chats import draw_chats
from workloads.synthetic.builtin.contents import CHAT, KINDS, draw_contents
from workloads.synthetic.builtin.prompts import prompt_keys
from workloads.synthetic.builtin.requests import draw_starts, in_order
from workloads.synthetic.builtin.spec import BuiltIn, SyntheticSpec
from workloads.synthetic.draws import by_first_sight

__all__ = ["BuiltIn", "SyntheticSpec", "assemble", "generate"]


def generate(spec: SyntheticSpec) -> Trace:
    """Generate a trace with a granularity of one token; the labels are the kinds of traffic."""
    return assemble(spec, spec.requests, spec.seed, Poisson(spec.rate_per_second))


def assemble(spec: BuiltIn, requests: int, seed: int, arrivals: ArrivalProcess) -> Trace:
    """Generate the trace of a seed and of arrivals; the rate is that of all requests."""
    contents = draw_contents(seed, spec.documents, spec.system_prompts, spec.document_tokens_median)
    starts = draw_starts(spec, requests, seed, arrivals, contents)
    chatting = starts.kind == CHAT
    system_tokens = contents.section_stop[starts.rank[chatting], starts.generation[chatting], -1]
    chats = draw_chats(seed, system_tokens, spec.turns_mean, spec.think_seconds_median)
    chosen = in_order(requests, seed, starts, chats)
    keys, stops, offsets = prompt_keys(seed, contents, starts, chats, chosen)
    interned = intern_runs(keys, stops, offsets)
    return Trace(
        name="synthetic",
        tree=interned.tree,
        leaf=interned.leaf,
        arrival_seconds=chosen.seconds,
        output_tokens=chosen.output_tokens,
        session=by_first_sight(chosen.chat),
        label=starts.kind[chosen.start].astype(np.int32),
        labels=KINDS,
    )
