"""Potentials in seconds: what a saved token is worth where late tokens cost more.

A prompt of L tokens that resumes at c is saved t(0, L) - t(c, L) seconds, with
t(c, c + n) = F(n) + e n (c + n / 2) + g c. The pair terms make a difference of a potential for
every L: e L^2 / 2 - e (L - c)(c + (L - c) / 2) = e c^2 / 2. The rest is F(L) - F(L - c) - g c.

- For prompts of one length this is a potential of c, non-decreasing where g = 0, since F does
  not fall: `saved_seconds`, exact.
- If F(n) = a + b n, it is b c whatever L is: the potential (b - g) c + e c^2 / 2 is exact for all
  lengths. `prefill_seconds`, t(0, c), differs from it by the constant a alone, which G(c) - G(0)
  would wrongly count once for each request that saves anything.
- Otherwise no single potential fits all lengths. If G is off by at most w seconds at every depth
  and length (`potential_error_seconds`), then every plan's saving is off by at most w a request,
  and the plan that is best for G is within 2 w of the best.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require_at_least
from policies.placement.support import Potential
from simulator.costs.cost_model import CostModel


def saved_seconds(costs: CostModel, length: int) -> Potential:
    """Return G(c) = t(0, L) - t(c, L): seconds saved of a prompt of `length` that resumes at c.

    Exact where all prompts are of this length. Depths beyond it count as it. Where the profile
    makes a resumed pass dearer than a whole one, G is held at its largest value so far.

    Parameters
    ----------
    costs
        Seconds of prefill.
    length
        Of the prompts, in tokens, 1 or more.
    """
    require_at_least("length", length, 1)
    whole = costs.prefill_seconds(0, length)

    def potential(depths: NDArray[np.int64]) -> NDArray[np.float64]:
        clipped = np.minimum(depths, length).tolist()
        seconds = [whole - costs.prefill_seconds(depth, length) for depth in clipped]
        return np.maximum.accumulate(np.maximum(np.array(seconds, np.float64), 0.0))

    return potential


def prefill_seconds(costs: CostModel) -> Potential:
    """Return G(c) = t(0, c): seconds of a prefill from the start to c.

    Parameters
    ----------
    costs
        Seconds of prefill.
    """

    def potential(depths: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([costs.prefill_seconds(0, depth) for depth in depths.tolist()])

    return potential


def potential_error_seconds(
    costs: CostModel, potential: Potential, lengths: Iterable[int], depths: NDArray[np.int64]
) -> float:
    """Return the largest difference between a potential and what is really saved.

    Parameters
    ----------
    costs
        Seconds of prefill.
    potential
        G.
    lengths
        Of prompts, in tokens.
    depths
        int64, ascending: resume points; those of `length` or more are left out.
    """
    gains = potential(np.concatenate(([0], depths)))
    gains = gains[1:] - gains[0]
    worst = 0.0
    for length in lengths:
        inside = depths[depths < length]
        whole = costs.prefill_seconds(0, length)
        saved = [whole - costs.prefill_seconds(depth, length) for depth in inside.tolist()]
        off = np.abs(gains[: len(inside)] - np.array(saved, np.float64))
        worst = max(worst, float(off.max(initial=0.0)))
    return worst
