"""Samples of a trace by session: a session is in the sample if its hash is below a threshold.

The hash depends on the session only, so a sample of 5 % is contained in that of 10 %, whatever the
order of the requests.

References
----------
Waldspurger, Park, Garthwaite and Ahmad (2015), "Efficient MRC construction with SHARDS", FAST.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from workloads.slicing.keeping import kept
from workloads.slicing.units import Units, units_of

HASHES = 2.0**64


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of a trace.

    Parameters
    ----------
    trace
        The requests in the sample.
    share
        The threshold as a share of all hashes: the probability of each session to be sampled.
    taken, units
        Number of sessions (or prefixes, for requests without one) in the sample, and in all.
    of_whole
        Shares of the requests and of the prompt tokens that are in the sample.
    """

    trace: Trace
    share: float
    taken: int
    units: int
    of_whole: tuple[float, float]


def sample_share(
    trace: Trace, share: float, seed: int = 0, names: Mapping[int, str] | None = None
) -> Sample:
    """Return the sessions whose hash is below `share` (above 0, at most 1) of all hashes.

    Raises
    ------
    UsageError
        If there is no such session.
    """
    units = units_of(trace, names)
    hashes = units.hashes(seed) / HASHES
    if not (hashes < share).any() and share < 1:
        raise UsageError(
            f"nothing is in a sample of {100 * share:g} %: the first session or prefix comes in at "
            f"{100 * float(hashes.min()):.3g} %"
        )
    return _sampled(trace, units, (hashes < share) | (share >= 1), share, seed)


def sample_requests(
    trace: Trace, requests: int, seed: int = 0, names: Mapping[int, str] | None = None
) -> Sample:
    """Return the sessions with the lowest hashes that have at most `requests` requests in all.

    Raises
    ------
    UsageError
        If the first of them has more.
    """
    units = units_of(trace, names)
    hashes = units.hashes(seed) / HASHES
    order = np.argsort(hashes, kind="stable")
    held = np.cumsum(np.bincount(units.of, minlength=len(units))[order])
    count = int(np.searchsorted(held, requests, side="right"))
    if not count:
        raise UsageError(
            f"nothing is in a sample of {requests:,} requests: the first session or prefix holds "
            f"{held[0]:,}"
        )
    share = float(hashes[order[count]]) if count < len(units) else 1.0
    taken = np.zeros(len(units), dtype=np.bool_)
    taken[order[:count]] = True
    return _sampled(trace, units, taken, share, seed)


def _sampled(
    trace: Trace, units: Units, taken: NDArray[np.bool_], share: float, seed: int
) -> Sample:
    chosen = np.flatnonzero(taken[units.of])
    count = int(taken.sum())
    what = _what(units)
    note = (
        f"a sample: {count:,} of {len(units):,} {what}, those whose hash (seed {seed}) is within "
        f"{100 * share:.4g} %; {len(chosen):,} of {len(trace):,} requests"
    )
    part = kept(trace, chosen, note)
    tokens = int(part.prompt_tokens.sum()) / int(trace.prompt_tokens.sum())
    return Sample(part, share, count, len(units), (len(part) / len(trace), tokens))


def _what(units: Units) -> str:
    if units.sessions == len(units):
        return "sessions"
    return "sessions and prefixes" if units.sessions else "prefixes (the trace tells no sessions)"
