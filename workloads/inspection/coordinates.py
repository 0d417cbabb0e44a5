"""Where overlaps end, in three coordinates, and in which of these they are most concentrated.

A checkpoint is useful where many prompts diverge from earlier ones at the same position. Positions
can be counted from the start of the prompt, from its end, or from the last branch point before the
end of the overlap; in one of the three they are often far more concentrated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.overlaps import branch_points

Int64 = NDArray[np.int64]

LEAST_WINDOW_TOKENS = 16
MOST_LABELS = 50  # only the most frequent labels get statistics of their own


@dataclass(frozen=True, slots=True)
class Coordinate:
    """The distribution of the ends of overlaps in one coordinate.

    Parameters
    ----------
    best_window_tokens
        Start of the window in which most overlaps end.
    share_in_best_window
        Share of the hits whose overlap ends in that window.
    entropy_bits
        Entropy over cells of the window's width: 0 if all overlaps end in one cell.
    one_checkpoint_tokens
        Position at which a checkpoint saves most tokens, if every hit has one there.
    one_checkpoint_share
        Share of the overlapping tokens that this checkpoint saves.
    concentration
        The largest share of the hits in any window of 1, 2, 4, ... tokens (Lévy's concentration
        function), for the widths in `Coordinates`.
    """

    best_window_tokens: int
    share_in_best_window: float
    entropy_bits: float
    one_checkpoint_tokens: int
    one_checkpoint_share: float
    concentration: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The distribution of the ends of overlaps in three coordinates.

    Parameters
    ----------
    hits
        Requests with an overlap above 0; all shares are of these.
    window_tokens
        Width of the windows and cells: 16 tokens, or a block where that is more.
    widths_tokens
        Window widths of `Coordinate.concentration`.
    branched_share
        Share of the hits with a branch point (where earlier prompts diverged) within their
        overlap; for the others `branch` counts from the start.
    sharpest
        The coordinate whose best window has the largest share: "start", "end" or "branch".
    """

    hits: int
    window_tokens: int
    widths_tokens: tuple[int, ...]
    branched_share: float
    sharpest: str
    start: Coordinate
    end: Coordinate
    branch: Coordinate


@dataclass(frozen=True, slots=True)
class Sharpness:
    """Coordinates of all requests and by label; None if no prompt overlaps."""

    all: Coordinates | None
    by_label: dict[str, Coordinates | None]


def sharpness(trace: Trace, overlap: Int64) -> Sharpness:
    """Return the statistics of all overlaps (shape (requests,)), and by frequent label."""
    branch, length = branch_points(trace), trace.prompt_tokens
    window = max(LEAST_WINDOW_TOKENS, trace.granularity)

    def law(chosen: NDArray[np.bool_]) -> Coordinates | None:
        chosen = chosen & (overlap > 0)
        if not chosen.any():
            return None
        return coordinates(overlap[chosen], length[chosen], branch[chosen], window)

    counts = np.bincount(trace.label[trace.label >= 0], minlength=len(trace.labels))
    frequent = sorted(np.argsort(-counts, kind="stable")[:MOST_LABELS].tolist())
    by_label = {trace.labels[label]: law(trace.label == label) for label in frequent}
    return Sharpness(law(np.ones(len(trace), dtype=np.bool_)), by_label)


def coordinates(overlap: Int64, length: Int64, branch: Int64, window: int) -> Coordinates:
    """Return the distribution of the ends of overlaps in the three coordinates.

    Parameters
    ----------
    overlap, length, branch
        Shape (hits,), in tokens: each hit's overlap (above 0), prompt length and last branch point
        within the overlap.
    window
        Width of the windows in tokens.
    """
    widest = int(length.max()).bit_length()
    widths = tuple(1 << power for power in range(widest + 1))
    total = int(overlap.sum())
    places = {"start": overlap, "end": length - overlap, "branch": overlap - branch}
    one = {
        "start": _one_from_start(overlap),
        "end": _one_from_end(overlap, length),
        "branch": _one_from_branch(overlap, branch),
    }
    by_name = {
        name: _coordinate(values, window, widths, *one[name], total)
        for name, values in places.items()
    }
    return Coordinates(
        hits=len(overlap),
        window_tokens=window,
        widths_tokens=widths,
        branched_share=float((branch > 0).mean()),
        sharpest=max(by_name, key=lambda name: by_name[name].share_in_best_window),
        **by_name,
    )


def _coordinate(
    values: Int64, window: int, widths: tuple[int, ...], at: int, saved: int, total: int
) -> Coordinate:
    points, counts = np.unique(values, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])

    def held(width: int) -> Int64:
        """Return, for each point, the number of values in the window that starts there."""
        held: Int64 = before[np.searchsorted(points, points + width)] - before[:-1]
        return held

    in_windows = held(window)
    cells = np.unique(values // window, return_counts=True)[1] / len(values)
    return Coordinate(
        best_window_tokens=int(points[in_windows.argmax()]),
        share_in_best_window=float(in_windows.max()) / len(values),
        entropy_bits=abs(float(-(cells * np.log2(cells)).sum())),
        one_checkpoint_tokens=at,
        one_checkpoint_share=saved / total,
        concentration=tuple(float(held(width).max()) / len(values) for width in widths),
    )


def _one_from_start(overlap: Int64) -> tuple[int, int]:
    """Return the best position x of one checkpoint, and its savings in tokens.

    It saves x tokens of each overlap of at least x.
    """
    points = np.sort(overlap)
    saved = points * np.arange(len(points), 0, -1)
    return int(points[saved.argmax()]), int(saved.max())


def _one_from_end(overlap: Int64, length: Int64) -> tuple[int, int]:
    """Return the best distance x of one checkpoint from the prompt's end, and its savings.

    In a prompt of L tokens it saves L - x if L - overlap <= x < L.
    """
    distance, lengths = np.sort(length - overlap), np.sort(length)
    order = np.argsort(length - overlap, kind="stable")
    reached = np.cumsum(length[order])  # total length of hits with a distance of at most x
    short = np.concatenate([[0], np.cumsum(lengths)])
    count = np.arange(1, len(distance) + 1)
    below = np.searchsorted(lengths, distance, side="right")  # number of prompts too short for x
    saved = reached - short[below] - (count - below) * distance
    last = np.append(distance[1:] != distance[:-1], True)  # the last of equal distances
    saved = np.where(last, saved, -1)
    return int(distance[saved.argmax()]), int(saved.max())


def _one_from_branch(overlap: Int64, branch: Int64) -> tuple[int, int]:
    """Return the best distance x of one checkpoint after the branch point, and its savings.

    It saves branch + x tokens of each overlap that reaches that far.
    """
    beyond = overlap - branch
    order = np.argsort(beyond, kind="stable")
    points = beyond[order]
    bases = np.cumsum(branch[order][::-1])[::-1]
    saved = bases + points * np.arange(len(points), 0, -1)
    first = np.append(True, points[1:] != points[:-1])
    saved = np.where(first, saved, -1)
    return int(points[saved.argmax()]), int(saved.max())
