"""Histograms of distances in octaves: a bin for each power of two, on both sides of a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from reports.results.positions.columns import OCTAVES, POINTS
from reports.results.positions.stored import Stored, Whole

MOST_LABELS = 5


def octave(distances: Whole) -> Whole:
    """Return the octave of each distance: 0 for 0, k for 2**(k-1) to 2**k - 1, -k before it."""
    size = np.abs(distances)
    _, exponent = np.frexp(size.astype(np.float64))
    return np.sign(distances) * np.minimum(exponent, OCTAVES).astype(np.int64)


def all_counts(stored: Stored) -> dict[str, list[int]]:
    """Return how many states lie in each octave from each of POINTS.

    From the start there are octaves 1 to 24; from the end of the prompt and from the branch -24
    to 24, the middle one being that point itself.
    """
    distances = (stored.position, stored.from_end, stored.from_branch)
    counts = [np.bincount(octave(each) + OCTAVES, minlength=2 * OCTAVES + 1) for each in distances]
    counts[0] = counts[0][OCTAVES + 1 :]
    return {point: each.tolist() for point, each in zip(POINTS, counts, strict=True)}


def bins(point: str, states_by_bin: list[int]) -> list[dict[str, int]]:
    """Return the bins that hold states, for JSON, with the least and the greatest distance."""
    first = 1 if point == "start" else -OCTAVES
    return [
        {**dict(zip(("least", "greatest"), ends(number), strict=True)), "states": states}
        for number, states in enumerate(states_by_bin, start=first)
        if states
    ]


def ends(number: int) -> tuple[int, int]:
    """Return the least and the greatest distance of an octave; the outermost have no end."""
    if number == 0:
        return 0, 0
    near, far = 2 ** (abs(number) - 1), 2 ** abs(number) - 1
    return (near, far) if number > 0 else (-far, -near)


def by_label(stored: Stored, names: tuple[str, ...]) -> dict[str, Stored]:
    """Return the states of each label, those that stored most first; up to five of them.

    Nothing where there are not at least two, unknown labels included.
    """
    label = stored.requests.label[stored.row]
    numbers, states = np.unique(label, return_counts=True)
    if len(np.unique(stored.requests.label)) < 2:
        return {}
    order = np.argsort(-states, kind="stable")[:MOST_LABELS]
    return {
        (names[number] if number >= 0 else "(no label)"): stored.where(label == number)
        for number in numbers[order].tolist()
    }


def figures(stored: Stored) -> dict[str, Any]:
    """Return the counts of a set of states for JSON."""
    kinds = {name: int(which.sum()) for name, which in stored.kinds().items()}
    bins_by_point = {f"from_{point}": bins(point, n) for point, n in all_counts(stored).items()}
    return {"states": len(stored), **kinds, **bins_by_point}
