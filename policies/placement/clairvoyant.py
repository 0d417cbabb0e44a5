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

    Without them, the capacity of the cache decides. A plan says from which position each request
    resumes, and what is held for it since when, such that all that is held fits at each time; it
    takes what saves most tokens per byte and time first (feasible.py). States are also written in
    answers, where the trace has them. The eviction policy `clairvoyant` follows the plan: it lets
    go of what the plan does not need. With another one the placer rehearses the whole trace in the
    same cache, with plans for several ages up to which states are used and with what `last`,
    `branch` and `adaptive` store, and takes what saves most (rehearsal.py): a minute for some
    10,000 requests.

    It is one plan with foresight, not the best possible: what no policy can exceed is
    `best_holding(...).bound_tokens` (holding.py). An unbounded cache saves all that a state
    everywhere would.

    It maximises saved tokens; the seconds of a profile play no part.

    Parameters
    ----------
    checkpoints
        Positions over the whole tree, 0 or more.
    budget_bytes
        The same in bytes of state.

    Source: see policies/placement/tree_solver.py, feasible.py and holding.py.

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
