"""Least recently used."""

from __future__ import annotations

from typing import ClassVar

from policies.eviction.base import BaseEviction
from policies.orders.recency import Recency


class Lru(Recency, BaseEviction):
    """Evict what was not used for the longest time.

    A request uses the state that it resumes from, and the KV of its whole path. Of that a span
    counts as used later than what lies below it.

    Source: R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
    Journal 9(2), 1970.
    """

    hits_paths: ClassVar[bool] = False
