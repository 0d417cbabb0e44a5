"""Try a policy on a few prompts, objects or overlaps; the examples in docstrings do."""

from __future__ import annotations

from policies.tryout.alone import evicted, learned, planned
from policies.tryout.prompts import TryoutResult, serve

__all__ = ["TryoutResult", "evicted", "learned", "planned", "serve"]
