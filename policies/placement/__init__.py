"""Placers: where the recurrent states of a prompt are checkpointed."""

from __future__ import annotations

from policies.placement.adaptive import Adaptive
from policies.placement.balanced import Balanced
from policies.placement.base import BasePlacer
from policies.placement.block import Block
from policies.placement.branch import Branch
from policies.placement.clairvoyant import ClairvoyantPlacer
from policies.placement.dense import Dense
from policies.placement.dyadic import Dyadic
from policies.placement.from_end import FromEnd
from policies.placement.greedy import Greedy
from policies.placement.interval import Interval
from policies.placement.last import Last
from policies.placement.marconi import MarconiPlacer
from policies.placement.none import NoPlacer
from policies.placement.offsets import Offsets
from policies.placement.optimal import Optimal
from policies.placement.published import Published
from policies.placement.random import Random
from policies.placement.robust import Robust
from policies.placement.sqrt import SquareRoot
from policies.placement.thinned import Thinned
from policies.placement.unified import UnifiedPlacer
from simulator.plugins.protocols import Placer

PLACERS: dict[str, type[Placer]] = {
    "none": NoPlacer,
    "last": Last,
    "block": Block,
    "dense": Dense,
    "balanced": Balanced,
    "sqrt": SquareRoot,
    "dyadic": Dyadic,
    "random": Random,
    "greedy": Greedy,
    "optimal": Optimal,
    "thinned": Thinned,
    "published": Published,
    "branch": Branch,
    "marconi": MarconiPlacer,
    "from_end": FromEnd,
    "offsets": Offsets,
    "interval": Interval,
    "adaptive": Adaptive,
    "unified": UnifiedPlacer,
    "robust": Robust,
    "clairvoyant": ClairvoyantPlacer,
}

__all__ = [
    "PLACERS",
    "Adaptive",
    "Balanced",
    "BasePlacer",
    "Block",
    "Branch",
    "ClairvoyantPlacer",
    "Dense",
    "Dyadic",
    "FromEnd",
    "Greedy",
    "Interval",
    "Last",
    "MarconiPlacer",
    "NoPlacer",
    "Offsets",
    "Optimal",
    "Published",
    "Random",
    "Robust",
    "SquareRoot",
    "Thinned",
]
