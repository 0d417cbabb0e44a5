"""Flat object mode: an eviction policy on a plain stream of sized objects, without prefixes."""

from __future__ import annotations

from policies.objects.replay import ObjectResult, replay
from policies.objects.stream import ObjectStream

__all__ = ["ObjectResult", "ObjectStream", "replay"]
