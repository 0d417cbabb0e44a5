"""Every use of every token of a trace, with its LRU stack distance.

An LRU stack orders tokens by their last use. Each request moves the tokens of its path to the top;
the first token of a prompt is the most recent and the last the least, as in a cache that evicts a
prefix from its tail. A token's stack distance is the number of tokens above it when it is used
again (Mattson et al., "Evaluation techniques for storage hierarchies", 1970): a cache with room for
that many holds it.

The tokens last used by one request are always a single stretch of its path, since later requests
use it from the root on. So the stack is one number of tokens for each request, and a path consists
of a few stretches however many nodes it has.
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
    """Stretches of prompts whose tokens were last used together by one request, as columns.

    Parameters
    ----------
    request
        The request that uses the stretch.
    before
        The request that used it before, -1 for a first use.
    tokens
        Length of the stretch.
    above
        Tokens used more recently than the first token of the stretch; 0 for a first use.
    stop
        Position of its end, in tokens from the start of the prompt.
    is_prompt
        Whether its tokens are looked up; False for those of an answer, which are generated.
    """

    request: Int64
    before: Int64
    tokens: Int64
    above: Int64
    stop: Int64
    is_prompt: NDArray[np.bool_]

    @property
    def again(self) -> NDArray[np.bool_]:
        """Whether each stretch belongs to a prompt and was used before."""
        return (self.before >= 0) & self.is_prompt


def uses(trace: Trace) -> Uses:
    """Return the uses of a trace, from one walk up each request's path."""
    parent, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    last = [-1] * trace.tree.nodes  # the last request that used each node
    recency = RecencyTree(len(trace))
    rows = array("q")
    for request, (leaf, end) in enumerate(zip(trace.leaf.tolist(), ends(trace), strict=True)):
        node = end
        for top in (leaf, ROOT):  # first the answer, then the prompt
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
