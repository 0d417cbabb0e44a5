"""Placers: where the recurrent states of a prompt are checkpointed."""

from __future__ import annotations

from policies.placement.balanced import Balanced
from policies.placement.base import BasePlacer
from policies.placement.block import Block
from policies.placement.branch import Branch
from policies.placement.dense import Dense
from policies.placement.dyadic import Dyadic
from policies.placement.greedy import Greedy
from policies.placement.last import Last
from policies.placement.none import NoPlacer
from policies.placement.optimal import Optimal
from policies.placement.random import Random
from policies.placement.sqrt import SquareRoot
from simulator.protocols import Placer

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
    "branch": Branch,
}

__all__ = [
    "PLACERS",
    "Balanced",
    "BasePlacer",
    "Block",
    "Branch",
    "Dense",
    "Dyadic",
    "Greedy",
    "Last",
    "NoPlacer",
    "Optimal",
    "Random",
    "SquareRoot",
]
