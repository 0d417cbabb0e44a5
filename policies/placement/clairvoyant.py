"""Placement with knowledge of all future requests, to compare other placers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from policies.placement.feasible import FeasiblePlan
from policies.placement.rehearsal import best_plan
from policies.placement.schedule import Schedule, fixed_schedule
from policies.placement.tree_law import law_of_trace
from policies.placement.tree_solver import solve_tree
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Prefix, Window


class ClairvoyantPlacer(BasePlacer):
    """Store the checkpoints that future requests will use, over the whole prefix tree. Looks ahead.

    With `checkpoints` or `budget_bytes`, so many positions of the tree are chosen and written
    whenever a prefill passes them: the set that saves most tokens where each request is served
    before the next arrives and nothing is ever evicted. It is exact on small trees, and elsewhere
    within the bound of tree_solver.py. Queues and evictions make it save less.

    Without them, the capacity of the cache decides: each request is given the resume point at
    which its KV and state are worth the bytes they occupy until then, at one price per byte and
    time (holding.py), and a state is written only where it will be used. An unbounded cache then
    saves all that a state everywhere would, with the fewest states a request. In a bounded one
    this is a plan for a cache that evicts with the same foresight: beside `belady` it comes near
    the best possible, while an eviction policy that throws its states away early may let another
    placer save more. What no policy can exceed is `best_holding(...).bound_tokens`.

    It maximises saved tokens; the seconds of a profile play no part.

    Parameters
    ----------
    checkpoints
        Positions over the whole tree, 0 or more.
    budget_bytes
        The same in bytes of state.

    Source: see policies/placement/tree_solver.py and holding.py.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["docsab", "docsxy", "docsxyz"], placer="clairvoyant")
    >>> served.written, served.saved  # just the states that later prompts resume from
    ([[4], [6], []], [0, 4, 6])
    >>> serve(["docsab", "docsxy", "docsxyz"], placer="clairvoyant:checkpoints=1").saved
    [0, 4, 4]
    """

    clairvoyant: ClassVar[bool] = True

    def __init__(self, checkpoints: int | None = None, budget_bytes: int | None = None) -> None:
        for name, value in (("checkpoints", checkpoints), ("budget_bytes", budget_bytes)):
            if value is not None:
                require_at_least(name, value, 0)
        if checkpoints is not None and budget_bytes is not None:
            raise ValueError("expected one of checkpoints and budget_bytes, found both")
        self._checkpoints = checkpoints
        self._budget_bytes = budget_bytes
        self._schedule: Schedule | None = None
        self.plan: FeasiblePlan | None = None

    def begin(self, context: CacheContext) -> None:
        """Plan for all requests of the trace."""
        trace = context.trace
        if trace is None:  # the future is not known
            return
        checkpoints = self._checkpoints
        if self._budget_bytes is not None:
            checkpoints = self._budget_bytes // max(context.sizes.state_bytes, 1)
        if checkpoints is None:
            best = best_plan(trace, context)
            self.plan, self._schedule = best.plan, best.schedule
        else:
            law = law_of_trace(trace, context.grid)
            self._schedule = fixed_schedule(trace, law, solve_tree(law, checkpoints))

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the planned positions behind the resume point."""
        if self._schedule is None or prefix.request < 0:
            return ()
        return self._schedule.positions(prefix.request, prefix.resume)
