"""The exact distribution of the overlaps of later turns of chats.

The overlap of a turn is the previous prompt and its answer: the shared prefix, and what each
earlier turn has added (user and answer), all independent. A chat has more than j turns with
probability q**j, q = 1 - 1 / turns_mean. In generating functions, the distribution for later turns
is

    prefix * sum over j >= 1 of (q * user * answer)**j,

a geometric series, which the discrete Fourier transform sums in closed form.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law
from workloads.drift import Drift
from workloads.synthetic.chats import MOST_TURNS, Chats
from workloads.synthetic.draws import Float64
from workloads.synthetic.truth import repeat_law

_LONGEST = 1 << 24
_NOISE = 1e-12  # numerical error of the transform, below which a weight counts as 0
_REACH = 7.0  # standard deviations at which normal distributions are truncated


def later_turn_law(chats: Chats, x: float, seed: int, drift: Drift) -> Law:
    """Return the distribution of overlaps of all later turns of chats that start at share x.

    All turns count equally; weights sum to 1, since every later turn overlaps.

    Raises
    ------
    UsageError
        For chats of one turn, or so long that there are more than 2**24 depths.
    """
    if chats.turns_mean == 1:
        raise UsageError("later turns: chats with turns_mean = 1 have none")
    prefix = repeat_law(chats, x, seed, drift)
    scale = float(drift.scale(drift.step(np.array([x])))[0])
    user = _scaled(_lengths(chats.user_tokens_median, 0.6), scale)
    answer = _lengths(chats.answer_tokens_median, 0.6)
    size = _size(chats, prefix, (user, answer))
    more = (1 - 1 / chats.turns_mean) * np.fft.rfft(user, size) * np.fft.rfft(answer, size)
    turns = more * (1 - more ** (MOST_TURNS - 1)) / (1 - more)
    start = np.bincount(prefix.depths, weights=prefix.weights)
    weights = np.fft.irfft(turns * np.fft.rfft(start, size), size)
    depths = np.flatnonzero(weights > _NOISE)
    return Law(depths, weights[depths] / weights[depths].sum())


def _lengths(median: int, sigma: float) -> Float64:
    """Return the probability of each whole length, at least 1, of a lognormal distribution."""
    from scipy.special import ndtr

    edges = np.arange(int(median * math.exp(_REACH * sigma)) + 2) + 0.5
    below = ndtr(np.log(edges / median) / sigma)
    below[0] = 0.0  # a length that would round to 0 is 1 token
    return np.concatenate([[0.0], np.diff(below)])


def _scaled(lengths: Float64, scale: float) -> Float64:
    """Return the distribution of lengths that are `scale` times longer, rounded."""
    longer = np.rint(np.arange(len(lengths)) * scale).astype(np.int64)
    return np.bincount(longer, weights=lengths).astype(np.float64)


def _size(chats: Chats, prefix: Law, added: tuple[Float64, Float64]) -> int:
    """Return a length of the Fourier transform that covers nearly all of the distribution."""
    mean = sum(float(np.arange(len(law)) @ law) for law in added)
    tail = sum(len(law) for law in added)
    # chats longer than 30 times the mean are fewer than exp(-30)
    needed = int(prefix.depths[-1] + tail + 30 * chats.turns_mean * mean)
    if needed > _LONGEST:
        raise UsageError(f"later turns: expected at most {_LONGEST:,} depths, found {needed:,}")
    return 1 << needed.bit_length()
