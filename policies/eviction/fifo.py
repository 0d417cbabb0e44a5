"""First in, first out."""

from __future__ import annotations

from policies.eviction.ranked import Ranked


class Fifo(Ranked):
    """Evict what entered first; hits change nothing.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966.
    """
