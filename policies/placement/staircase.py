"""The best staircase under a survival curve: exact checkpoint placement for every budget at once.

Statement
---------
Let `p` be a law of overlap depths, T(x) = P(d >= x) its survival curve, G a non-decreasing
potential with G(0) = 0 (tokens, or seconds of prefill from 0 to x), and C = {c_1 < ... < c_M}
checkpoints. A request of overlap `d` saves G(deepest c <= d), so that by summation by parts

    S(C) = sum_d p(d) G(max{c in C, c <= d} or 0) = sum_k (G(c_k) - G(c_{k-1})) T(c_k),

the area of a staircase with M steps under T, drawn over G. `solve` finds the C of at most M
checkpoints with the greatest S(C), for all M up to a budget.

1. *Support.* Move a checkpoint right, to the next depth with weight: T stays, G does not fall. So
   some optimal set lies on the support.
2. *Recursion.* Let F_k(b) be the best saving of at most k checkpoints of which the last is b.
   F_1(b) = G(b) T(b), and F_{k+1}(b) = G(b) T(b) + max over a < b of (F_k(a) - G(a) T(b)), where
   a = 0 (no checkpoint before b, F = G = 0) is allowed.
3. *The constraint a < b may be dropped.* Let a >= b, and C the set of F_k(a). Replace its members
   from b on by b alone: each of them earned at most T(b) for each unit of G, so the result, a set
   of at most k ending in b, saves at least F_k(a) - (G(a) - G(b)) T(b), and it is feasible.
4. *Legendre.* Without it, the maximum over a is that of lines at the point T(b): it is attained at
   a vertex of the least concave majorant of the points (G(a), F_k(a)), namely the first one after
   which the slope is T(b) or less. The majorant's slopes are the antitonic regression of the
   points' slopes with weights diff(G). A layer costs O(S) and one sorted search.
5. *Concavity.* The greatest saving is concave in M, as the value of a maximum-weight path with M
   edges under weights of the (inverse) Monge kind: so a price per checkpoint traces all of it.
6. *Truncation.* A prompt of L tokens has the law of min(d, L). Below L its T is that of `p`, so
   F_k(b) for b < L is unchanged; one candidate is new, L itself, with T(L) = P(d >= L) and
   F_k(L) = G(L) T(L) + max over a < L of (F_{k-1}(a) - G(a) T(L)). Hence one table answers every
   prompt length exactly, in O(S).

Ties and rounding: where step 4 picks a >= b, or does not beat F_k(b), the set of F_k(b) is taken
over, so that positions ascend strictly and savings never fall with the budget.

Sources: the problem and a recursion in O(N M) for tokens, arXiv 2605.05219 (2026), Theorem 2; the
same staircase as a k-link path, Aggarwal, Schieber and Tokuyama (1994), "Finding a minimum-weight
k-link path in graphs with the concave Monge property"; antitonic regression as a majorant, Barlow
et al. (1972), "Statistical inference under order restrictions".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.placement.support import Potential, Support, support_of

# Up to this support a layer is faster as one dense maximum, which needs no scipy either.
DENSE_SUPPORT = 256

# From F_k: for each b, the greatest F_k(a) - G(a) T(b) over a < b, and that a. Where there is no
# such a, the value is 0 or less.
Improver = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.intp]]]


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """Optimal checkpoint positions of one law, for every budget and every prompt length.

    Parameters
    ----------
    support
        The candidates.
    savings
        float64, shape (layers, S): F_k(b) in row k - 1. Further layers would repeat the last.
    previous
        int32, shape (layers, S): the checkpoint before b, -1 for none.
    savings_by_budget
        float64, shape (budget + 1,): the greatest saving with at most that many checkpoints, on
        the scale of the weights; ascending and, up to rounding, concave.
    """

    support: Support
    savings: NDArray[np.float64]
    previous: NDArray[np.int32]
    savings_by_budget: NDArray[np.float64]

    @property
    def budget(self) -> int:
        """The largest budget that was solved for."""
        return len(self.savings_by_budget) - 1

    def positions(self, budget: int | None = None, limit: int | None = None) -> list[int]:
        """Return optimal positions: ascending, unique, at most `budget` of them.

        Parameters
        ----------
        budget
            At most the budget that was solved for, which is the default.
        limit
            Length of the prompt in tokens; deeper overlaps count as this. None for no limit.

        Raises
        ------
        ValueError
            Where `budget` is beyond what was solved for.
        """
        budget = self.budget if budget is None else budget
        if not 0 <= budget <= self.budget:
            raise ValueError(f"budget: expected 0 to {self.budget}, found {budget}")
        layers = len(self.savings)
        if not budget or not layers:
            return []
        row = min(budget, layers) - 1
        if limit is None:
            return self._walk(row, int(self.savings[row].argmax()))
        return self._truncated(row, min(budget - 1, layers) - 1, limit)

    def _truncated(self, row: int, row_before: int, limit: int) -> list[int]:
        """Choose between the best last position below `limit` and `limit` itself."""
        below, survival, potential = self.support.end(limit)
        best = int(self.savings[row, :below].argmax()) if below else -1
        inner = float(self.savings[row, best]) if below else 0.0
        before, rest = -1, 0.0
        if row_before >= 0 and below:
            lines = self.savings[row_before, :below] - self.support.potentials[:below] * survival
            top = int(lines.argmax())
            if lines[top] > 0.0:
                before, rest = top, float(lines[top])
        if potential * survival + rest > inner:
            return [*self._walk(row_before, before), limit]
        return self._walk(row, best)

    def _walk(self, row: int, last: int) -> list[int]:
        """Follow the checkpoints back from `last`, and return them ascending."""
        chain: list[int] = []
        while last >= 0:
            chain.append(last)
            last = self.previous.item(row, last)
            row -= 1
        return [self.support.depths.item(i) for i in reversed(chain)]


def solve(
    depths: ArrayLike, weights: ArrayLike, budget: int, potential: Potential | None = None
) -> Staircase:
    """Solve the placement problem exactly for every budget from 0 to `budget`.

    Parameters
    ----------
    depths
        Integers, shape (S,), ascending, unique, at least 1.
    weights
        Shape (S,), finite, non-negative, of any scale. The weight of misses adds a constant.
    budget
        Checkpoints, 0 or more. Beyond the support more of them save nothing.
    potential
        A non-decreasing G of depths (shape-preserving); tokens where None.

    Raises
    ------
    ValueError
        Where one of these does not hold.

    Examples
    --------
    >>> plan = solve([4, 7, 10], [0.6, 0.3, 0.1], budget=2)
    >>> plan.positions(1), plan.positions(2), plan.positions(2, limit=8)
    ([4], [4, 7], [4, 7])
    >>> plan.savings_by_budget.round(2).tolist()
    [0.0, 4.0, 5.2]
    """
    if budget < 0:
        raise ValueError(f"budget: expected 0 or more, found {budget}")
    support = support_of(depths, weights, potential)
    savings, previous = _layers(support, min(budget, len(support)))
    best = savings.max(axis=1, initial=0.0)
    curve = np.full(budget + 1, best[-1] if len(best) else 0.0)
    curve[0], curve[1 : len(best) + 1] = 0.0, best
    return Staircase(support, savings, previous, curve)


def _layers(support: Support, layers: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return F_k(b) and the checkpoint before b, for k = 1 to `layers`."""
    gains, survival = support.potentials, support.survival
    savings = np.empty((layers, len(support)))
    previous = np.full((layers, len(support)), -1, np.int32)
    if not layers:
        return savings, previous
    improve = _dense(support) if len(support) <= DENSE_SUPPORT else _majorant(support)
    np.multiply(gains, survival, out=savings[0])
    for k in range(1, layers):
        value, previous[k] = improve(savings[k - 1])
        value += savings[0]
        np.maximum(value, savings[k - 1], out=savings[k])
        np.copyto(previous[k], previous[k - 1], where=savings[k] == savings[k - 1])
    return savings, previous


def _dense(support: Support) -> Improver:
    """Choose by comparing every pair a < b: O(S^2) in one sweep of memory."""
    size = len(support)
    offset = np.outer(support.survival, support.potentials)
    index = np.arange(size)
    offset[index >= index[:, None]] = np.inf
    lines = np.empty_like(offset)
    flat, rows = lines.ravel(), index * size

    def improve(before: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        np.subtract(before, offset, out=lines)
        best: NDArray[np.intp] = lines.argmax(axis=1)
        return flat.take(rows + best), best

    return improve


def _majorant(support: Support) -> Improver:
    """Choose by the slopes of the least concave majorant: O(S)."""
    from scipy.optimize import isotonic_regression

    widths = np.diff(support.potentials, prepend=0.0)
    rising = -support.survival
    index = np.arange(len(support))

    gains, survival = support.potentials, support.survival

    def improve(before: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        slopes = np.diff(before, prepend=0.0) / widths
        fit = isotonic_regression(slopes, weights=widths, increasing=False)
        # Block i of equal slopes ends at vertex ends[i] - 1; those b whose T lies below its slope
        # go beyond. Searching the few slopes among T costs less than the other way round.
        ends = fit.blocks[1:]
        passed = rising.searchsorted(-fit.x[ends - 1], side="right")
        chosen = np.repeat(
            np.concatenate(([0], ends - 1)), np.diff(passed, prepend=0, append=len(index))
        )
        best = np.where(chosen < index, chosen, 0)
        value = before.take(best)
        value -= gains.take(best) * survival
        return value, best

    return improve
