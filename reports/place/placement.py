"""The positions and savings of a placer for a law of overlap depths, with optimum and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.placement.greedy import greedy_positions
from policies.placement.priced import priced_positions
from policies.placement.staircase import Staircase, solve
from policies.placement.support import Potential, expected_saving, support_of
from reports.place.alone import placed, takes_budget
from reports.place.law_file import DepthLaw
from reports.place.theory import bounds, elbow, hold_out, uniform
from simulator.base.errors import UsageError

MOST_CELLS = 50_000_000  # cells of the solver's table: 600 MB
MOST_PLACED = 512  # the most budgets for which a placer is called one by one


@dataclass(frozen=True, slots=True, eq=False)
class PlacementQuestion:
    """The inputs of `answer`.

    Parameters
    ----------
    law
        The distribution of overlaps, none deeper than `length`.
    length
        Tokens of the prompt.
    budget
        The number of checkpoints.
    placer
        A placer as in `optimal` or `balanced:budget=4`.
    price
        Price of a checkpoint, in tokens or seconds a request; the budget is then chosen by it.
    price_in_seconds
        Whether the price is in seconds.
    potential
        Seconds of prefill saved by resuming at each position, where a profile is given.
    """

    law: DepthLaw
    length: int
    budget: int
    placer: str = "optimal"
    price: float | None = None
    price_in_seconds: bool = False
    potential: Potential | None = None


def answer(question: PlacementQuestion) -> dict[str, Any]:
    """Return the results as plain values; shares and means are of all requests, misses included.

    Raises
    ------
    UsageError
        Where the placer needs more than a law, or the table of the solver would be too large.
    """
    law = question.law
    share = law.weights / law.total
    if question.price is not None:
        question = _priced(question, share)
    budget = question.budget
    optimum = _solved(law, share, budget)
    positions, savings = _placer(question, share, optimum)
    saved = expected_saving(law.depths, share, positions)
    curve = optimum.savings_by_budget
    greedy = expected_saving(
        law.depths, share, greedy_positions(support_of(law.depths, share), budget)
    )
    return {
        "law": _law(question),
        "placer": question.placer,
        "budget": budget,
        "price": _price(question),
        "positions": positions,
        "expected_saved_tokens": saved,
        "savings_by_budget": savings,
        "marginal_gains": np.diff(savings).tolist(),
        "optimum": {
            "positions": optimum.positions(),
            "expected_saved_tokens": float(curve[-1]),
            "savings_by_budget": curve.tolist(),
            "greedy_share": greedy / float(curve[-1]) if curve[-1] > 0 else 1.0,
        },
        "elbow": elbow(curve),
        "uniform": uniform(law, question.length, budget),
        "bounds": bounds(law, question.length, budget),
        "hold_out": hold_out(law, question.length, budget),
        "seconds": _seconds(question, share, positions),
        "notes": list(law.notes),
    }


def _priced(question: PlacementQuestion, share: NDArray[np.float64]) -> PlacementQuestion:
    """Return the question with the number of checkpoints that are worth its price as budget."""
    law, price = question.law, question.price
    potential = question.potential if question.price_in_seconds else None
    assert price is not None
    positions = priced_positions(law.depths, share, price, potential)
    return replace(question, budget=len(positions))


def _price(question: PlacementQuestion) -> dict[str, Any] | None:
    if question.price is None:
        return None
    unit = "seconds" if question.price_in_seconds else "tokens"
    shown = question.price if math.isfinite(question.price) else "infinity"
    return {"per_checkpoint": shown, "unit": f"{unit} a request"}


def _solved(
    law: DepthLaw, share: ArrayLike, budget: int, potential: Potential | None = None
) -> Staircase:
    size = len(law.depths)
    if size * min(budget, size) > MOST_CELLS:
        raise UsageError(
            f"{budget:,} checkpoints over {size:,} depths make too large a table: choose at most "
            f"{MOST_CELLS // size:,}, or a higher price"
        )
    return solve(law.depths, share, budget, potential)


def _placer(
    question: PlacementQuestion, share: NDArray[np.float64], optimum: Staircase
) -> tuple[list[int], list[float]]:
    """Return the placer's positions, and the tokens saved a request for each budget."""
    law, budget = question.law, question.budget
    name = question.placer.partition(":")[0]
    if question.price is not None and question.price_in_seconds:
        assert question.potential is not None
        positions = priced_positions(law.depths, share, question.price, question.potential)
        return positions, _best_of(law, share, positions, budget)
    if name == "optimal":
        return optimum.positions(), optimum.savings_by_budget.tolist()
    positions = _positions(question, budget)
    if takes_budget(name) and budget <= MOST_PLACED:
        by_budget = [_positions(question, k) for k in range(budget)] + [positions]
        return positions, [expected_saving(law.depths, share, chosen) for chosen in by_budget]
    return positions, _best_of(law, share, positions, budget)


def _positions(question: PlacementQuestion, budget: int) -> list[int]:
    """Return the positions that a placer chooses, with `budget` if it takes one."""
    law = question.law
    if question.placer == "greedy":
        return greedy_positions(support_of(law.depths, law.weights), budget)
    return placed(question.placer, budget, law, question.length)


def _best_of(
    law: DepthLaw, share: NDArray[np.float64], positions: list[int], budget: int
) -> list[float]:
    """Return the most that k of these positions save, in tokens a request, for k up to `budget`."""
    resume = np.concatenate(([0], positions)).astype(np.int64)
    kept = resume.searchsorted(law.depths, side="right") - 1
    weight = np.bincount(kept, share, minlength=len(resume))
    most = min(budget, len(positions), MOST_CELLS // max(len(positions), 1))
    curve = solve(resume[1:], weight[1:], most).savings_by_budget.tolist()
    return [*curve, *[curve[-1]] * (budget - most)]


def _law(question: PlacementQuestion) -> dict[str, Any]:
    law = question.law
    return {
        "name": law.name,
        "requests": law.samples,
        "weight": law.total,
        "missed_share": law.misses / law.total,
        "distinct_depths": len(law.depths),
        "deepest_tokens": int(law.depths[-1]) if len(law.depths) else 0,
        "mean_overlap_tokens": float(law.depths @ law.weights) / law.total,
        "length_tokens": question.length,
    }


def _seconds(
    question: PlacementQuestion, share: NDArray[np.float64], positions: list[int]
) -> dict[str, Any] | None:
    """Return the plan that saves most prefill time, and the time that the placer's plan saves."""
    potential, law = question.potential, question.law
    if potential is None:
        return None
    best = _solved(law, share, question.budget, potential)
    return {
        "expected_saved_seconds": expected_saving(law.depths, share, positions, potential),
        "best_positions": best.positions(),
        "best_saved_seconds": float(best.savings_by_budget[-1]),
        "best_savings_by_budget_seconds": best.savings_by_budget.tolist(),
    }
