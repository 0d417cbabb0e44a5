"""Eviction policies: which entry goes next. Names are those of policy strings."""

from __future__ import annotations

from policies.eviction.arc import Arc
from policies.eviction.base import BaseEviction
from policies.eviction.belady import Belady
from policies.eviction.clairvoyant import ClairvoyantEviction
from policies.eviction.clock import ClockEviction
from policies.eviction.coverage import Coverage
from policies.eviction.fifo import Fifo
from policies.eviction.gdsf import Gdsf
from policies.eviction.lfu import Lfu
from policies.eviction.lirs import Lirs
from policies.eviction.lru import Lru
from policies.eviction.marconi import MarconiEviction
from policies.eviction.pgdsf import Pgdsf
from policies.eviction.reuse_probability import ReuseProbability
from policies.eviction.s3fifo import S3Fifo
from policies.eviction.seglen import SegLen
from policies.eviction.session_aware import SessionAware
from policies.eviction.sieve import Sieve
from policies.eviction.slru import Slru
from policies.eviction.split_lru import SplitLru
from policies.eviction.tail_lru import TailLru
from policies.eviction.ttl import Ttl
from policies.eviction.two_q import TwoQ
from policies.eviction.unified import Unified
from policies.eviction.value import ValueEviction
from policies.eviction.wtinylfu import WTinyLfu
from simulator.plugins.protocols import EvictionPolicy

__all__ = ["EVICTION", "BaseEviction"]

EVICTION: dict[str, type[EvictionPolicy]] = {
    "fifo": Fifo,
    "lru": Lru,
    "clock": ClockEviction,
    "lfu": Lfu,
    "slru": Slru,
    "two_q": TwoQ,
    "arc": Arc,
    "lirs": Lirs,
    "s3fifo": S3Fifo,
    "sieve": Sieve,
    "wtinylfu": WTinyLfu,
    "gdsf": Gdsf,
    "pgdsf": Pgdsf,
    "split_lru": SplitLru,
    "ttl": Ttl,
    "marconi": MarconiEviction,
    "seglen": SegLen,
    "tail_lru": TailLru,
    "reuse_probability": ReuseProbability,
    "session_aware": SessionAware,
    "coverage": Coverage,
    "value": ValueEviction,
    "unified": Unified,
    "belady": Belady,
    "clairvoyant": ClairvoyantEviction,
}
