"""The built-in workload: questions about shared documents, system prompts, and chats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.trace import NO_SESSION, Trace
from workloads.interning import intern_runs
from workloads.numbering import number
from workloads.synthetic.chats import draw_chats
from workloads.synthetic.contents import CHAT, KINDS, Int64, draw_contents
from workloads.synthetic.prompts import prompt_keys
from workloads.synthetic.requests import draw_starts, in_order
from workloads.synthetic.spec import SyntheticSpec

__all__ = ["SyntheticSpec", "generate"]


def generate(spec: SyntheticSpec) -> Trace:
    """Generate a trace with a granularity of one token; the labels are the kinds of traffic."""
    contents = draw_contents(
        spec.seed, spec.documents, spec.system_prompts, spec.document_tokens_median
    )
    starts = draw_starts(spec, contents)
    chatting = starts.kind == CHAT
    system_tokens = contents.section_stop[starts.rank[chatting], starts.generation[chatting], -1]
    chats = draw_chats(spec.seed, system_tokens, spec.turns_mean, spec.think_seconds_median)
    requests = in_order(spec, starts, chats)
    keys, stops, offsets = prompt_keys(spec.seed, contents, starts, chats, requests)
    interned = intern_runs(keys, stops, offsets)
    return Trace(
        name="synthetic",
        tree=interned.tree,
        leaf=interned.leaf,
        arrival_seconds=requests.seconds,
        output_tokens=requests.output_tokens,
        session=_by_first_sight(requests.chat),
        label=starts.kind[requests.start].astype(np.int32),
        labels=KINDS,
    )


def _by_first_sight(chat: Int64) -> NDArray[np.int32]:
    """Give numbers to chats in the order in which they appear; -1 stays."""
    session = np.full(len(chat), NO_SESSION, dtype=np.int32)
    known = chat >= 0
    session[known] = number(chat[known])[0]
    return session
