"""Rules that positions may follow: every N tokens, fixed distances from the start or the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.results.positions.forks import floored
from reports.results.positions.stored import FinishedRequests, Stored, Whole

NEARLY_ALL = 0.95  # of the states, for a rule to explain them
FILLED = 0.8  # of what a period asks for and what is stored, that both must have
CLEAR = 8  # steps of the grid: nearly any shorter period fits positions that are floored to it
MOST_OFFSETS = 3
ROUND = (1000, 500, 100, 50, 10, 1)  # a round period is more likely than others that fit as well
MOST_REQUESTS, MOST_TOKENS = 2000, 2e7  # beyond which every n-th request tells


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule that explains the positions of states: its kind and its tokens.

    `kind` is "every" (from the start), "computed" (from the resume point), "before_end" or
    "from_start".
    """

    kind: str
    tokens: tuple[int, ...]

    def words(self) -> str:
        """Say where the rule puts states."""
        listed = " and ".join(f"{n:,}" for n in self.tokens)
        return {
            "every": f"every {listed} tokens",
            "computed": f"every {listed} computed tokens",
            "before_end": f"{listed} tokens before the end of the prompt",
            "from_start": f"{listed} tokens from the start",
        }[self.kind]


def pattern_of(stored: Stored) -> Pattern | None:
    """Return the simplest rule that explains nearly all positions of states; None without one.

    If there are very many requests, only every n-th is examined.
    """
    stored = sampled(stored)
    if not len(stored):
        return None
    return _period(stored) or _offsets(stored)


def multiples(
    requests: FinishedRequests, every: int, origin: Whole, stop: Whole
) -> tuple[Whole, Whole]:
    """Return rows and positions of `origin + every`, `origin + 2 every`, ... in (resume, stop]."""
    first = np.maximum((requests.resume - origin) // every + 1, 1)
    last = (stop - origin) // every
    number = np.maximum(last - first + 1, 0)
    row = np.repeat(np.arange(len(requests)), number)
    step = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    return row, origin[row] + (first[row] + step) * every


def keys(row: Whole, position: Whole, width: int) -> Whole:
    """Return one number a request and stretch of `width` tokens, sorted, each once."""
    # Far faster here than the hashes of np.unique.
    stretches = np.sort((row << 40) + position // width)
    once: Whole = stretches[np.diff(stretches, prepend=-1) != 0]
    return once


def agreement(mine: Whole, states: int, theirs: Whole) -> tuple[float, int]:
    """Return Dice's coefficient of two sets of keys, and the size of their intersection."""
    common = len(np.intersect1d(mine, theirs, assume_unique=True))
    return 2 * common / max(states + len(theirs), 1), common


def sampled(stored: Stored) -> Stored:
    """Return the states of every n-th request, where there are very many."""
    requests = stored.requests
    tokens = float(requests.prompt.sum())
    nth = int(max(-(-len(requests) // MOST_REQUESTS), -(-tokens // MOST_TOKENS), 1))
    if nth == 1:
        return stored
    kept = stored.where(stored.row % nth == 0)
    chosen = requests.only(np.arange(0, len(requests), nth))
    return Stored(chosen, kept.row // nth, kept.position, kept.forked, kept.grid)


def _period(stored: Stored) -> Pattern | None:
    zero = np.zeros_like(stored.requests.resume)
    for kind, origin in (("every", zero), ("computed", stored.requests.resume)):
        for tokens in _candidates(stored.position - origin[stored.row], stored):
            if _is_every(stored, tokens, origin):
                return Pattern(kind, (tokens,))
    return None


def _candidates(distances: Whole, stored: Stored) -> Iterator[int]:
    """Yield the periods that positions suggest: what divides all, and gaps of a request."""
    step = stored.grid.step
    gaps = np.diff(stored.position)[np.diff(stored.row) == 0]
    yield from {int(np.gcd.reduce(distances))} - {0, 1}
    periods: list[int] = []
    if len(gaps):  # of floored positions they differ, and their mean is nearly the period
        periods += [int(np.median(gaps)), *(round(float(gaps.mean()) / d) * d for d in ROUND)]
    yield from (tokens for tokens in dict.fromkeys(periods) if tokens >= max(CLEAR * step, 2))


def _is_every(stored: Stored, tokens: int, origin: Whole) -> bool:
    row, position = multiples(stored.requests, tokens, origin, stored.requests.prompt)
    wanted = keys(row, floored(stored.grid, position), 1)
    share, common = agreement(keys(stored.row, stored.position, 1), len(stored), wanted)
    return share >= FILLED and common >= NEARLY_ALL * len(stored)


def _offsets(stored: Stored) -> Pattern | None:
    step = stored.grid.step
    before = stored.requests.prompt[stored.row] - stored.position
    for kind, distance, width in (
        ("before_end", before[before >= 0], step),
        ("from_start", stored.position, 1),
    ):
        offsets = _windows(distance, width, NEARLY_ALL * len(stored))
        if offsets:
            return Pattern(kind, tuple(sorted(offsets)))
    return None


def _windows(distance: Whole, width: int, enough: float) -> list[int]:
    """Return up to three distances within `width` of which nearly all lie, else nothing."""
    starts: list[int] = []
    distance, explained = np.sort(distance), 0
    while len(distance) and len(starts) < MOST_OFFSETS and explained < enough:
        upto = np.searchsorted(distance, distance + width)
        best = int(np.argmax(upto - np.arange(len(distance))))
        starts.append(int(distance[best]))
        explained += int(upto[best]) - best
        distance = _without(distance, best, int(upto[best]))
    return starts if explained >= enough else []


def _without(values: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
    return np.concatenate([values[:first], values[last:]])
