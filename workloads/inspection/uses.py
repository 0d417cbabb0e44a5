"""Every use of every token of a trace, and what has been used since its last one.

Requests in their order put the prefixes that they pass on top of a stack: the first token of a
prompt is the most recent, the last one the least, as in a cache that evicts a prefix from its
tail. The tokens above a token when it is used again are its LRU stack distance (Mattson et al.,
"Evaluation techniques for storage hierarchies", 1970): a cache of at least so many finds it.

What one request has used last is a single stretch of its path, since later requests take their
share from the root. So the stack is a number of tokens for each request, and a path is a few
stretches however many nodes it has.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace
from workloads.inspection.overlaps import ends
from workloads.stack_distance import RecencyTree

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """Stretches of prompts that were used together before, as columns of one length.

    Parameters
    ----------
    request
        Who uses it.
    before
        The request that used it last, -1 where none has.
    tokens
        Its length.
    above
        Tokens that were used more recently than the first of its tokens; 0 for a first use.
    stop
        Where it ends, from the start of the prompt.
    is_prompt
        False for tokens of an answer, which are made rather than looked up.
    """

    request: Int64
    before: Int64
    tokens: Int64
    above: Int64
    stop: Int64
    is_prompt: NDArray[np.bool_]

    @property
    def again(self) -> NDArray[np.bool_]:
        """Whether a stretch is of a prompt, and was used before."""
        return (self.before >= 0) & self.is_prompt


def uses(trace: Trace) -> Uses:
    """Walk each request's path once, from its end to the root."""
    parent, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    last = [-1] * trace.tree.nodes  # the request that used each node last
    recency = RecencyTree(len(trace))
    rows = array("q")
    for request, (leaf, end) in enumerate(zip(trace.leaf.tolist(), ends(trace), strict=True)):
        node = end
        for top in (leaf, ROOT):  # the answer, then the prompt
            while node != top:
                before, bottom = last[node], stop[node]
                while node != top and last[node] == before:
                    last[node] = request
                    node = parent[node]
                tokens = bottom - stop[node]
                above = 0
                if before >= 0:
                    above = recency.since(before)
                    recency.add(before, -tokens)
                rows.extend((request, before, tokens, above, bottom, top == ROOT))
        recency.add(request, stop[end])
    columns = np.frombuffer(rows, dtype=np.int64).reshape(-1, 6).T
    return Uses(
        request=columns[0],
        before=columns[1],
        tokens=columns[2],
        above=columns[3],
        stop=columns[4],
        is_prompt=columns[5] == 1,
    )
