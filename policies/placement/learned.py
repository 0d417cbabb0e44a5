"""Base class of placers that plan for a learned law of overlaps."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar

from policies.estimation import (
    CountingEstimator,
    Decay,
    Frozen,
    MixtureEstimator,
    Period,
    Trend,
    WindowEstimator,
)
from policies.estimation.change import ChangeDetector
from policies.estimation.coordinates import COORDINATES, SharpestCoordinate, last_branch
from policies.parameters import require, require_at_least
from policies.placement.balanced import balanced_positions
from policies.placement.base import BasePlacer
from policies.placement.foresight import ForesightView, saved_tokens
from policies.placement.retention import Chooser, best_for, best_for_uniform, exactly
from policies.placement.views import LawView, Plan, PlannedPrompt
from simulator.plugins import protocols
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Law, Overlap, Prefix

PREDICTORS: dict[str, type[Decay]] = {"trend": Trend, "period": Period}
SCOPES = ("global", "label", "document")
STEADY = 32  # with `auto`, the first so many overlaps all score the coordinates,
JUDGE = 4  # later ones one in so many
DEFAULT_WINDOW = 100
LARGEST_SAMPLE = 1000  # overlaps in a sample, when the law is tested for drift


class LearnedPlacer(BasePlacer):
    """A placer that plans for a law of overlaps, learned from served requests.

    A plan is made after the first overlap, and again every `replan` requests, so that it depends
    on what was observed and not on when it was asked for. Until then the positions are those of
    `balanced`. Depths within one `prefix.step` are one position.

    Parameters
    ----------
    budget
        Checkpoints for a whole prefix, 1 or more.
    window
        Learn from the last `window` requests; counts where neither `decay` nor `train` is given.
    decay
        Learn from all requests, the one of n requests ago weighted by decay ** n.
    train
        Learn from the first `train` requests, and keep that law.
    replan
        Requests between two plans, 1 or more.
    drift
        Plan again only if the law has changed, at this level of significance (see
        policies/estimation/change.py); tested every `replan` requests.
    scope
        Whose law to plan for: "global", "label" or "document". The narrower ones are shrunk
        towards the wider (see policies/estimation/mixture.py), and learn from a window.
    coordinate
        Where depths are counted from: "start", "end" or "branch" (see
        policies/estimation/coordinates.py); or "auto", for each label the one whose plans would
        have saved most of recent overlaps.
    predict
        Beside `decay`: "trend" or "period". Plan for a law that is carried along the trend of
        depths, or that knows the next phase of a period, while this has saved more of recent
        overlaps than to plan for the law of `decay` (see policies/placement/foresight.py).
    """

    observes: ClassVar[bool] = True

    def __init__(
        self,
        budget: int,
        window: int = DEFAULT_WINDOW,
        decay: float | None = None,
        train: int | None = None,
        replan: int = 10,
        drift: float | None = None,
        scope: str = "global",
        coordinate: str = "start",
        predict: str | None = None,
    ) -> None:
        require_at_least("budget", budget, 1)
        require_at_least("replan", replan, 1)
        require(scope in SCOPES, "scope", "global, label or document", scope)
        known = (*COORDINATES, "auto")
        require(coordinate in known, "coordinate", "start, end, branch or auto", coordinate)
        self._budget = budget
        self._replan = replan
        self._views: dict[str, LawView | ForesightView] = {}
        for name in COORDINATES if coordinate == "auto" else (coordinate,):
            view = LawView(name, scope, _estimator(window, decay, train, scope), self.plan)
            self._views[name] = view
            if predict is not None:
                predicted = LawView(name, scope, _predictor(predict, decay), self.plan)
                self._views[name] = ForesightView(view, predicted, budget)
        self._foresights = [v for v in self._views.values() if isinstance(v, ForesightView)]
        self._first = next(iter(self._views.values()))
        self._sharpest = SharpestCoordinate()
        self._change: ChangeDetector | None = None
        if drift is not None:
            require(0 < drift < 1, "drift", "above 0 and below 1", drift)
            self._change = ChangeDetector(min(max(window, 2), LARGEST_SAMPLE), drift)
        self._since_law = 0
        self._overlaps = 0
        self._step = 1

    @abstractmethod
    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return a plan for `law`, whose depths are counted from a multiple of `step` + `phase`.

        Positions are floored to multiples of `step` afterwards.
        """

    def begin(self, context: CacheContext) -> None:
        """Read the grid of checkpoint positions."""
        self._step = context.grid.step

    def coordinate(self, label: int = -1) -> str:
        """Return where the depths of a label are counted from: with "auto", what was chosen."""
        if len(self._views) == 1:
            return self._first.coordinate
        return self._sharpest.best(label)

    def chooser(self) -> Chooser:
        """Return the solver that chooses among given positions: the exact one by default."""
        return exactly

    def law_to_keep(self, law: Law) -> Law:
        """Return the law for which states are kept: by default the learned one."""
        return law

    def observe(self, overlap: Overlap) -> None:
        """Count an overlap, and plan again when it is time."""
        if self._foresights and overlap.depth and self._first.known:
            self._compare(overlap)
        if len(self._views) > 1 and overlap.depth:
            self._judge(overlap)
        for view in self._views.values():
            view.observe(overlap)
        if self._change is not None:
            self._change.observe(min(overlap.depth, overlap.prompt_tokens))
        self._since_law += 1
        if self._since_law >= self._replan or not self._first.known:
            self._settle()

    def place(self, prefix: Prefix, window: protocols.Window) -> Sequence[int]:
        """Return the planned positions behind the resume point."""
        if not self._first.known:
            return balanced_positions(self._budget, prefix)
        view = self._views[self.coordinate(prefix.label)]
        positions = view.positions(_target_of(prefix), self._budget)
        return positions[bisect_right(positions, prefix.resume) :]

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Keep the states, old or new, that save most under the learned law."""
        if not self._first.known:
            return best_for_uniform(states, wanted, most, prefix.prompt_tokens)
        view = self._views[self.coordinate(prefix.label)]
        law = self.law_to_keep(view.law_from_start(_target_of(prefix)))
        return best_for(law.depths, law.weights, states, wanted, most, self.chooser())

    def _settle(self) -> None:
        change = self._change
        self._since_law = 0
        if change is not None:
            if self._first.known and not change.moved():
                return
            change.settle()
        for view in self._views.values():
            view.settle()

    def _compare(self, overlap: Overlap) -> None:
        """Compare predicted laws with plain ones by an overlap that they do not know yet."""
        target = self._target(overlap)
        for view in self._foresights:
            view.judge(target, min(overlap.depth, overlap.prompt_tokens))

    def _judge(self, overlap: Overlap) -> None:
        """Score each coordinate by what its plan, not yet knowing the overlap, would have saved."""
        self._overlaps += 1
        if not self._first.known or (self._overlaps > STEADY and self._overlaps % JUDGE):
            return
        target, depth = self._target(overlap), min(overlap.depth, overlap.prompt_tokens)
        saved = {
            name: float(saved_tokens(view, target, self._budget, depth))
            for name, view in self._views.items()
        }
        self._sharpest.judge(overlap.label, saved)

    def _target(self, overlap: Overlap) -> PlannedPrompt:
        """Return the prompt of an overlap as one to plan for, all of it."""
        return PlannedPrompt(
            overlap.prompt_tokens,
            last_branch(overlap),
            0,
            self._step,
            overlap.label,
            overlap.session,
        )


def _target_of(prefix: Prefix) -> PlannedPrompt:
    """Return what a plan is made for."""
    return PlannedPrompt(
        prefix.prompt_tokens,
        prefix.overlap,
        prefix.resume,
        prefix.step,
        prefix.label,
        prefix.session,
    )


def _estimator(
    window: int, decay: float | None, train: int | None, scope: str
) -> CountingEstimator:
    """Return the estimator that the parameters select: window, decay or train."""
    others = [name for name, value in (("decay", decay), ("train", train)) if value is not None]
    asked = ["window"] * (window != DEFAULT_WINDOW) + others
    if len(asked) > 1:
        raise ValueError(f"expected one of window, decay and train, found {' and '.join(asked)}")
    if others:
        require(scope == "global", "scope", f"global beside {others[0]}", scope)
    if decay is not None:
        require(0 < decay <= 0.9999, "decay", "above 0 and at most 0.9999", decay)
        return Decay(decay)
    if train is not None:
        return Frozen(train)
    require(1 <= window <= 1_000_000, "window", "1 to 1000000", window)
    return WindowEstimator(window) if scope == "global" else MixtureEstimator(window)


def _predictor(predict: str, decay: float | None) -> Decay:
    """Return the estimator that `predict` names, which forgets as `decay` does."""
    require(predict in PREDICTORS, "predict", " or ".join(PREDICTORS), predict)
    if decay is None:
        raise ValueError(f"predict: expected decay beside it, found {predict!r} alone")
    return PREDICTORS[predict](decay)
