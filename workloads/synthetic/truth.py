"""The exact distribution of overlaps of generated traffic, a reference for estimators.

A start (a request of one-request sessions, the first turn of others) picks a path of the catalogue.
Its overlap ends with the deepest part of that path that an earlier start has picked too. Starts are
independent, and one at position x of the trace (0 to 1) picks part v with a known probability
q_x(v). So v is new to the n-th start with probability U(v) = prod over i < n of (1 - q_{x_i}(v)).
Since a part is only picked together with those above it, the overlap ends after part j of a path
with probability U(part j + 1) - U(part j). This is exact for any drift and any n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.plugins.protocols import Law
from workloads.drift import Drift
from workloads.synthetic.catalogue import Catalogue
from workloads.synthetic.draws import Float64, Int64
from workloads.synthetic.generator import SessionGenerator


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """All paths that can be picked at one share of the trace, with their probabilities."""

    keys: Int64
    stops: Int64
    chance: Float64


def overlap_law(
    generator: SessionGenerator, number: int, requests: int, seed: int, drift: Drift
) -> Law:
    """Return the distribution of the overlap of start `number` (from 0) in a trace of `requests`.

    It is over all random draws except the lengths of texts, which are those of the seed. `misses`
    is the probability of no overlap; the weights and `misses` sum to 1. The cost is proportional to
    `number` times the number of shared prefixes.
    """
    return overlap_laws(generator, [number], requests, seed, drift)[0]


def overlap_laws(
    generator: SessionGenerator, numbers: Sequence[int], requests: int, seed: int, drift: Drift
) -> list[Law]:
    """Return `overlap_law` for several starts, in ascending order, at the cost of the last one."""
    x = generator.shares(numbers[-1] + 1, requests)
    pieces: list[list[tuple[Int64, Float64]]] = [[] for _ in numbers]
    for share, catalogue in generator.catalogues(seed, drift):
        unseen, first = np.zeros(catalogue.keys), 0
        for at, number in enumerate(numbers):
            unseen = unseen + _log_new(catalogue, share, x[first:number])
            depth, chance = _split(_paths(catalogue, float(x[number])), np.exp(unseen))
            pieces[at].append((depth, share * chance))
            first = number
    return [_law(*map(np.concatenate, zip(*parts, strict=True))) for parts in pieces]


def repeat_law(generator: SessionGenerator, x: float, seed: int, drift: Drift) -> Law:
    """Return the distribution of overlaps at share x of starts whose whole path was seen before.

    This is the limit of `overlap_law` where nothing drifts any more. Weights sum to 1.
    """
    weighted = [(share, _paths(c, x)) for share, c in generator.catalogues(seed, drift)]
    depths = [paths.stops.max(axis=1) for _, paths in weighted]
    return _law(np.concatenate(depths), np.concatenate([s * paths.chance for s, paths in weighted]))


def total_variation(one: Law, other: Law) -> float:
    """Return half the L1 distance of two distributions, each scaled to 1, misses included."""
    depths = np.union1d(one.depths, other.depths)
    difference = np.zeros(len(depths) + 1)
    for law, sign in ((one, 1.0), (other, -1.0)):
        weights = np.append(law.weights, law.misses)
        places = np.append(np.searchsorted(depths, law.depths), len(depths))
        difference[places] += sign * weights / weights.sum()
    return 0.5 * float(np.abs(difference).sum())


def _paths(catalogue: Catalogue, x: float) -> _Paths:
    """Return all paths that a start at share x can pick."""
    openings = catalogue.paths_per_item
    rank = np.repeat(np.arange(catalogue.law.items), openings)
    opening = np.tile(np.arange(openings), catalogue.law.items)
    keys, stops = catalogue.paths(rank, opening, np.full(len(rank), x))
    chance = catalogue.popularity(np.array([x]))[0, rank] / openings
    return _Paths(keys, stops, chance)


def _log_new(catalogue: Catalogue, share: float, x: Float64) -> Float64:
    """Return the log-probability, for each part, that no start at shares x has picked it."""
    logarithm = np.zeros(catalogue.keys)
    with np.errstate(divide="ignore"):  # log 0: a part of every path is never new
        for at, times in zip(*_states(catalogue, x), strict=True):
            passed = np.minimum(share * _passed(catalogue, at), 1.0)
            logarithm += times * np.log1p(-passed)
    return logarithm


def _states(catalogue: Catalogue, x: Float64) -> tuple[Float64, Int64]:
    """Return values of x that represent all different distributions, and how often each occurs."""
    drift = catalogue.drift
    parts = [drift.weight(x), drift.version(x), drift.step(x)]
    if drift.births is not None:
        changes = np.sort((np.arange(drift.generations + 1)[:, None] - catalogue.phase).ravel())
        parts.append(np.searchsorted(changes, drift.births.times * x, side="right"))
    state = np.stack([np.asarray(part, dtype=np.float64) for part in parts])
    _, first, times = np.unique(state, axis=1, return_index=True, return_counts=True)
    return x[first], times


def _passed(catalogue: Catalogue, x: float) -> Float64:
    """Return the probability that a start at share x picks each part, by key."""
    paths = _paths(catalogue, float(x))
    here = paths.stops > 0
    chance = np.broadcast_to(paths.chance[:, None], here.shape)[here]
    passed = np.bincount(paths.keys[here], weights=chance, minlength=catalogue.keys)
    return passed.astype(np.float64)


def _split(paths: _Paths, new: Float64) -> tuple[Int64, Float64]:
    """Return depths and probabilities of all positions at which the overlap of a path can end."""
    first, last = np.zeros((len(paths.keys), 1)), np.ones((len(paths.keys), 1))
    unseen = np.where(paths.stops > 0, new[paths.keys], 0.0)
    # an absent part is as new as the one above it; nothing is new at the start, and
    # everything at the end. Rounding must not make a part newer than the next one.
    unseen = np.maximum.accumulate(np.concatenate([first, unseen, last], axis=1), axis=1)
    depths = np.pad(np.maximum.accumulate(paths.stops, axis=1), ((0, 0), (1, 0)))
    return depths.ravel(), (paths.chance[:, None] * np.diff(unseen)).ravel()


def _law(depths: Int64, chance: Float64) -> Law:
    distinct, place = np.unique(depths, return_inverse=True)
    weights = np.bincount(place, weights=chance).astype(np.float64)
    hit = (distinct > 0) & (weights > 0)
    return Law(distinct[hit], weights[hit], float(weights[distinct == 0].sum()))
