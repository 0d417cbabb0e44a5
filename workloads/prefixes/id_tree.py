"""A prefix tree of prompts that begin with blocks named by ids, wherever these blocks lie."""

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
    """Prompts that go on from each other by blocks with ids: one of the `Prompts`.

    Behind the same tokens, equal ids of blocks of one size mean equal tokens, as far as both go.
    Blocks need not lie at multiples of their size.
    """

    known: dict[tuple[int, int, int], int] = field(default_factory=dict)  # node, id, block size

    def place(self, context: int | None, ids: Sequence[int], tokens: int, block: int) -> int:
        """Return the node at which a prompt ends that adds tokens to a context.

        Parameters
        ----------
        context
            The node at which the context ends; None for none.
        ids
            Of the blocks, the first of which lies behind the context; the last may be partial.
            What they do not cover is new.
        tokens
            Behind the context.
        block
            Tokens a block.
        """
        node = ROOT if context is None else context
        end = self.stop[node] + tokens
        for key in ids:
            node = self._block((node, key, block), min(self.stop[node] + block, end))
        return self.extend(node, end - self.stop[node])

    def _block(self, name: tuple[int, int, int], stop: int) -> int:
        """Return the node at `stop` within a block, which goes on where it has been seen."""
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
        """Return the tree, whose nodes end only where prompts part or end."""
        self.known.clear()
        self._merge()
        return PromptTree.intern(self, prompt_tokens, order)

    def _merge(self) -> None:
        """Let parents be those nodes at which something ends or parts."""
        parent = np.frombuffer(self.parent, dtype=np.int64).copy()
        kept = np.bincount(parent[1:], minlength=len(parent)) > 1
        kept[[ROOT, *self.leaf, *self.after]] = True
        above = np.where(kept[parent], parent, parent[parent])
        while not kept[above[1:]].all():  # each step doubles how far it looks
            above = np.where(kept[above], above, above[above])
        self.parent = array("q", above.tobytes())
        self.parent[ROOT] = -1
