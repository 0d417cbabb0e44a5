"""Coordinates of overlap depths, and the choice of the one in which plans save most."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.plugins.protocols import Overlap

COORDINATES = ("start", "end", "branch")  # of equal scores the first wins
LEAST = 8  # scores before a label has its own choice, or any but the first is chosen
FADE = 0.98  # decay of the scores with each new one


def last_branch(overlap: Overlap) -> int:
    """Return the last position up to an overlap's end where prompts had diverged before; or 0."""
    span = overlap.span
    if span is None:
        return 0
    while span.stop > overlap.depth:
        span = span.parent
    own = overlap.prompt_tokens > overlap.depth  # the branch that this prompt has added
    while span.stop and span.children_seen - own < 2:
        span, own = span.parent, False
    return span.stop


def counted(overlap: Overlap, coordinate: str) -> Overlap:
    """Return the overlap with its depth counted in a coordinate; a miss, depth 0, stays one.

    start
        Tokens from the start of the prompt.
    end
        1 + tokens from the end of the prompt.
    branch
        Tokens from the last branch point known before. A return to that point itself counts as 0:
        a checkpoint there serves it, and nothing beyond does.
    """
    depth, length = overlap.depth, overlap.prompt_tokens
    if coordinate == "start" or not depth:
        return overlap
    if coordinate == "end":
        distance = max(0, length - depth)
        return overlap.counted_anew(1 + distance, 1 + distance)
    base = last_branch(overlap)
    return overlap.counted_anew(depth - base, length - base)


class SharpestCoordinate:
    """Finds the coordinate in which plans have saved most, by label.

    Plans are scored by overlaps that they had not learned from yet. Recent ones count more.
    """

    def __init__(self) -> None:
        self._count: dict[int, int] = {}
        self._scores: dict[int, dict[str, float]] = {}

    def judge(self, label: int, saved_tokens: Mapping[str, float]) -> None:
        """Add the tokens that a plan in each coordinate would have saved of one overlap."""
        for key in {-1, label}:
            self._count[key] = self._count.get(key, 0) + 1
            scores = self._scores.setdefault(key, dict.fromkeys(COORDINATES, 0.0))
            for coordinate, saved in saved_tokens.items():
                scores[coordinate] = FADE * scores[coordinate] + saved

    def best(self, label: int = -1) -> str:
        """Return the best coordinate for a label, or for all while the label has few scores."""
        key = label if self._count.get(label, 0) >= LEAST else -1
        if self._count.get(key, 0) < LEAST:
            return COORDINATES[0]
        return max(COORDINATES, key=self._scores[key].__getitem__)
