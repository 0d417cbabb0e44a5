"""Least recently used."""

from __future__ import annotations

from typing import ClassVar

from policies.eviction.base import BaseEviction
from policies.orders.recency import Recency


class Lru(Recency, BaseEviction):
    """Evict what was used least recently.

    A request uses the state that it resumes from, and the KV of its whole path. On a path a span
    counts as used later than what lies below it, so that it leaves later.

    Source: R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
    Journal 9(2), 1970.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("lru", "ABC A D", capacity_bytes=3)  # A was used after B
    'B'
    >>> from policies.tryout import serve
    >>> serve(["abcd", "xyz"], capacity_bytes=7).kv  # a prefix is shortened from its end
    ['abc', 'xyz']
    """

    hits_paths: ClassVar[bool] = False
