"""Popularity of prefixes: the share of the most used ones, and a fitted Zipf law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.overlaps import Int64

Float64 = NDArray[np.float64]

LEAST_BLOCK_TOKENS = 16
TOP_SHARES = (0.001, 0.01, 0.1)
MOST_POINTS = 200
MOST_EXPONENT = 8.0
EXACT_TERMS = 4096


@dataclass(frozen=True, slots=True)
class Zipf:
    """A Zipf law of uses by rank: the block of rank r is used first_uses * r ** -exponent times.

    Parameters
    ----------
    exponent, first_uses
        Maximum likelihood estimates over the blocks used more than once.
    blocks
        Number of these blocks.
    largest_error
        Largest difference between fitted and observed cumulative shares of uses: 0.05 is five
        percentage points. Uses of blocks are not independent, so no interval is given.
    """

    exponent: float
    first_uses: float
    blocks: int
    largest_error: float


@dataclass(frozen=True, slots=True)
class Popularity:
    """Uses of distinct tokens; a token here is identified by the whole prefix that ends with it.

    Parameters
    ----------
    distinct_tokens
        Tokens of all prompts, each prefix counted once.
    used_again_share
        Share of the distinct tokens that more than one prompt contains.
    top_shares
        Share of all prompt tokens that are among the most used 0.1, 1 and 10 % of distinct tokens.
    block_tokens
        Tokens a block in `zipf` and `ranks`.
    zipf
        Fitted Zipf law; None if fewer than three blocks are used more than once.
    ranks, uses
        Ranks of blocks and how often each is used, at most 200 points.
    """

    distinct_tokens: int
    used_again_share: float
    top_shares: dict[str, float]
    block_tokens: int
    zipf: Zipf | None
    ranks: tuple[int, ...]
    uses: tuple[int, ...]


def popularity(trace: Trace) -> Popularity:
    """Return the popularity of the trace's prefixes."""
    tokens = trace.tree.stop - trace.tree.start
    uses = _uses(trace)
    order = np.argsort(-uses, kind="stable")
    order = order[(uses[order] > 0) & (tokens[order] > 0)]
    uses, tokens = uses[order], tokens[order]
    distinct = int(tokens.sum())
    block = max(LEAST_BLOCK_TOKENS, trace.granularity)
    edges = np.rint(np.cumsum(tokens) / block).astype(np.int64)  # last rank of each node
    ranks, at = _points(edges)
    return Popularity(
        distinct_tokens=distinct,
        used_again_share=int(tokens[uses > 1].sum()) / distinct,
        top_shares={f"{share:.1%}": _top(uses, tokens, share) for share in TOP_SHARES},
        block_tokens=block,
        zipf=_zipf(uses, edges),
        ranks=tuple(ranks.tolist()),
        uses=tuple(uses[at].tolist()),
    )


def _uses(trace: Trace) -> Int64:
    """Return the number of prompts whose path contains each node of the prefix tree."""
    uses = np.bincount(trace.leaf, minlength=trace.tree.nodes).tolist()
    parent = trace.tree.parent.tolist()
    for node in range(len(parent) - 1, 0, -1):  # children have higher numbers than their parents
        uses[parent[node]] += uses[node]
    return np.array(uses, dtype=np.int64)


def _top(uses: Int64, tokens: Int64, share: float) -> float:
    """Return the share of all uses that go to the most used `share` of the tokens."""
    ends = np.concatenate([[0], np.cumsum(tokens)])
    used = np.concatenate([[0], np.cumsum(uses * tokens)])
    return float(np.interp(share * ends[-1], ends, used) / used[-1])


def _points(edges: Int64) -> tuple[Int64, Int64]:
    """Return ranks spread evenly on a logarithmic scale, and the node that contains each."""
    most = int(edges[-1])
    if not most:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    ranks = np.unique(np.rint(np.geomspace(1, most, MOST_POINTS)).astype(np.int64))
    return ranks, np.searchsorted(edges, ranks)


def _zipf(uses: Int64, edges: Int64) -> Zipf | None:
    """Fit the exponent by maximum likelihood to blocks whose ranks end at `edges`."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    again = uses > 1
    stops = edges[again]
    if not len(stops) or stops[-1] < 3:
        return None
    starts = np.concatenate([[0], stops[:-1]])
    weights = uses[again].astype(np.float64)
    logs = float((weights * (gammaln(stops + 1) - gammaln(starts + 1))).sum())
    total = float((weights * (stops - starts)).sum())
    blocks = int(stops[-1])

    def loss(exponent: float) -> float:
        ends = np.array([blocks])
        return float(exponent * logs + total * np.log(_power_sums(exponent, ends)[0]))

    exponent = float(minimize_scalar(loss, bounds=(0.0, MOST_EXPONENT), method="bounded").x)
    fitted = _power_sums(exponent, stops)
    observed = np.cumsum(weights * (stops - starts))
    error = np.abs(fitted / fitted[-1] - observed / observed[-1]).max()
    return Zipf(exponent, total / float(fitted[-1]), blocks, float(error))


def _power_sums(exponent: float, ends: Int64) -> Float64:
    """Return the sums of r ** -exponent for r up to each of `ends`.

    After the first terms the sum is approximated by an integral (midpoint rule).
    """
    terms = np.arange(1, EXACT_TERMS + 1, dtype=np.float64) ** -exponent
    exact = np.concatenate([[0.0], np.cumsum(terms)])
    low, high = EXACT_TERMS + 0.5, np.maximum(ends, EXACT_TERMS) + 0.5
    power = 1 - exponent
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(power == 0, np.log(high / low), (high**power - low**power) / power)
    return exact[np.minimum(ends, EXACT_TERMS)] + rest
