"""Eviction policies: which entry goes next. Names are those of policy strings."""

from __future__ import annotations

from policies.eviction.fifo import Fifo
from policies.eviction.lru import Lru
from simulator.protocols import EvictionPolicy

EVICTION: dict[str, type[EvictionPolicy]] = {
    "fifo": Fifo,
    "lru": Lru,
}
