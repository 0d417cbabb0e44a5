"""A prefix tree of prompts given as block ids, whose blocks may begin at any token."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from simulator.trace.prefix_tree import ROOT
from workloads.prefixes.interning import Interned
from workloads.prefixes.numbering import Int64
from workloads.prefixes.prompt_tree import PromptTree


@dataclass(slots=True)
class IdTree(PromptTree):
    """Prompts that extend each other by blocks with ids (one of the `Prompts` classes).

    After the same tokens, equal ids of blocks of one size mean equal tokens, up to the end of the
    shorter block. Blocks need not begin at multiples of their size.
    """

    known: dict[tuple[int, int, int], int] = field(default_factory=dict)  # node, id, block size

    def place(self, context: int | None, ids: Sequence[int], tokens: int, block: int) -> int:
        """Return the node at which a prompt ends that appends tokens to a context.

        Parameters
        ----------
        context
            The node at which the context ends; None for an empty one.
        ids
            Ids of the blocks that follow the context; the last may be partial. Tokens that they
            do not cover match nothing.
        tokens
            Number of tokens appended.
        block
            Tokens per block.
        """
        node = ROOT if context is None else context
        end = self.stop[node] + tokens
        for key in ids:
            node = self._block((node, key, block), min(self.stop[node] + block, end))
        return self.extend(node, end - self.stop[node])

    def _block(self, name: tuple[int, int, int], stop: int) -> int:
        """Return the node that ends at `stop` within a block, extending the block if needed."""
        node, there = name[0], self.known.get(name)
        if there is None:
            there = self.extend(node, stop - self.stop[node])
        elif self.stop[there] < stop:
            there = self.extend(there, stop - self.stop[there])
        else:
            return self.cut(there, stop)
        self.known[name] = there
        return there

    def intern(self, prompt_tokens: Int64, order: Int64 | None) -> Interned:
        """Return the interned tree, whose nodes end only where prompts diverge or end."""
        self.known.clear()
        self._merge()
        return PromptTree.intern(self, prompt_tokens, order)

    def _merge(self) -> None:
        """Merge chains of nodes, so that nodes end only where prompts diverge or end."""
        parent = np.frombuffer(self.parent, dtype=np.int64).copy()
        kept = np.bincount(parent[1:], minlength=len(parent)) > 1
        kept[[ROOT, *self.leaf, *self.after]] = True
        above = np.where(kept[parent], parent, parent[parent])
        while not kept[above[1:]].all():  # pointer jumping: each step doubles the distance
            above = np.where(kept[above], above, above[above])
        self.parent = array("q", above.tobytes())
        self.parent[ROOT] = -1
