"""Shared prefixes whose popularity, texts and lengths follow a drift.

A shared prefix is a path of up to four parts:

    group | item | closing | opening

The *group* (a template, or the common start of several system prompts) belongs to several items.
The *item* (a document, a system prompt) is picked by popularity. The *closing* part ends it, in the
version in force at that time. The *opening* is one of a few ways in which the rest of the prompt
begins, the i-th of them i tokens long. An item that grows has one part for each of its lengths.

Every request picks its path independently, with probabilities that depend only on its share of the
trace. That makes the distribution of overlaps computable: see `workloads.synthetic.truth`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.base.errors import UsageError
from workloads.drift import Drift
from workloads.randomness import stream
from workloads.synthetic.draws import Float64, Int64, lognormal_tokens, pick


@dataclass(frozen=True, slots=True)
class PrefixLaw:
    """The distribution of shared prefixes, without its drift.

    Parameters
    ----------
    items
        Number of items in use at a time; rank 1 is the most popular.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent.
    tokens_median, tokens_sigma
        Lengths of items: lognormal, clipped to an eighth and eight times the median.
    groups, group_tokens
        Rank r belongs to group r modulo `groups`; with 0 tokens there are no groups.
    closing_tokens
        Tokens of the first version of the closing part.
    openings
        Number of openings, all equally likely; 0 for none.
    """

    items: int
    zipf_exponent: float
    tokens_median: int
    tokens_sigma: float
    groups: int = 1
    group_tokens: int = 0
    closing_tokens: int = 1
    openings: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The shared prefixes of a trace, drawn from a distribution.

    Parameters
    ----------
    law, drift
        The distribution that they were drawn from, and its drift.
    tokens
        Shape (items, generations): the first length of each item.
    phase
        Shape (items,): phase of each rank, which sets when its item is replaced.
    mixes
        Shape (2, items): the popularity of each rank in the first and in the second mix.
    """

    law: PrefixLaw
    drift: Drift
    tokens: Int64
    phase: Float64
    mixes: Float64

    @property
    def levels(self) -> int:
        """The largest number of parts in a path."""
        return 1 + self.drift.lengths + 2

    @property
    def paths_per_item(self) -> int:
        """The number of openings, at least one."""
        return max(1, self.law.openings)

    @property
    def keys(self) -> int:
        """The number of keys (identifiers of prefixes), which are numbered from 0."""
        return sum(self._sizes())

    def popularity(self, x: Float64) -> Float64:
        """Return the probability of each rank, shape (len(x), items).

        x are positions in the trace, from 0 to 1.
        """
        weight = self.drift.weight(x)[:, None]
        chance: Float64 = (1 - weight) * self.mixes[0] + weight * self.mixes[1]
        return chance

    def draw(self, random: np.random.Generator, x: Float64) -> tuple[Int64, Int64]:
        """Draw the rank and the opening of requests at positions x of the trace (0 to 1)."""
        uniform, second = random.random(len(x)), random.random(len(x)) < self.drift.weight(x)
        rank = np.where(second, pick(uniform, self.mixes[1]), pick(uniform, self.mixes[0]))
        return rank, random.integers(self.paths_per_item, size=len(x))

    def paths(self, rank: Int64, opening: Int64, x: Float64) -> tuple[Int64, Int64]:
        """Return keys and ends of the parts of prefixes, each shape (paths, levels).

        A key identifies the whole prefix up to and including its part. An end is in tokens from the
        start; 0 means that the path has no such part.
        """
        drift, law = self.drift, self.law
        group = rank % law.groups
        generation = drift.generation(x, self.phase[rank])
        item = rank * drift.generations + generation
        step, version = drift.step(x), drift.version(x)
        grown = law.group_tokens + self._lengths(rank, generation)
        close = np.take_along_axis(grown, step[:, None], axis=1)[:, 0]
        close = close + law.closing_tokens + version * drift.moved
        closing = (item * drift.lengths + step) * drift.versions + version
        here = np.arange(drift.lengths) <= step[:, None]
        lengths = item[:, None] * drift.lengths + np.arange(drift.lengths)
        parts = [group, *lengths.T, closing, closing * self.paths_per_item + opening]
        bases = np.concatenate([[0], np.cumsum(self._sizes())])
        of_level = bases[[0, *[1] * drift.lengths, 2, 3]]
        stops = [np.full_like(rank, law.group_tokens), *np.where(here, grown, 0).T, close]
        stops.append(close + opening + 1 if law.openings else np.zeros_like(rank))
        return np.stack(parts, axis=1) + of_level, np.stack(stops, axis=1)

    def _lengths(self, rank: Int64, generation: Int64) -> Int64:
        """Return the successive lengths of items, shape (items, lengths)."""
        steps = np.arange(self.drift.lengths)
        scale = self.drift.scale(steps)
        grown = np.rint(self.tokens[rank, generation][:, None] * scale).astype(np.int64)
        # each step adds at least one token, even where the factor is close to 1
        return np.maximum.accumulate(grown - steps, axis=1) + steps

    def _sizes(self) -> tuple[int, int, int, int]:
        lengths = self.law.items * self.drift.generations * self.drift.lengths
        closings = lengths * self.drift.versions
        return self.law.groups, lengths, closings, closings * self.paths_per_item


def draw_catalogue(law: PrefixLaw, seed: int, drift: Drift) -> Catalogue:
    """Draw shared prefixes; for one seed, all drifts start with the same ones.

    Raises
    ------
    UsageError
        For a drift of the mix with a larger distance than this mix allows.
    """
    median, shape = law.tokens_median, (drift.generations, law.items)
    random = stream(seed, "shared texts")
    low, high = max(1, median // 8), 8 * median
    drawn = lognormal_tokens(random, median, law.tokens_sigma, low, high, shape[0] * shape[1])
    first = np.arange(1.0, law.items + 1) ** -law.zipf_exponent
    first /= first.sum()
    phase = stream(seed, "phases").random(law.items)
    return Catalogue(law, drift, drawn.reshape(shape).T, phase, _mixes(first, drift))


def _mixes(first: Float64, drift: Drift) -> Float64:
    distance = 0.0 if drift.mix is None else drift.mix.distance
    farthest = 0.5 * float(np.abs(first - first[::-1]).sum())
    if distance > farthest:
        raise UsageError(
            f"distance: expected at most {farthest:.4g}, by which a mix of {len(first)} items with "
            f"these popularities can move, found {distance:g}"
        )
    moved = distance / farthest if distance else 0.0
    return np.stack([first, first + moved * (first[::-1] - first)])
