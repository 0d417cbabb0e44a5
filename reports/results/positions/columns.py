"""The columns of a cell that tell positions."""

from __future__ import annotations

OCTAVES = 24  # the last takes all from 8,388,608 tokens on
POINTS = ("start", "end", "branch")
KINDS = ("at_end", "at_branch", "in_answer", "elsewhere")
COUNTS = tuple(f"positions_{kind}" for kind in KINDS)
WORDS = ("positions_words", "positions_nearest")
BINS = tuple(f"bins_from_{point}" for point in POINTS)
LABELS = "bins_labels"
LABEL_BINS = tuple(f"bins_labels_from_{point}" for point in POINTS)
BIN_COLUMNS = (*BINS, LABELS, *LABEL_BINS)
BIN_COUNTS = {  # octaves on one side of the start, on both sides of the other points
    name: OCTAVES if name.endswith("_start") else 2 * OCTAVES + 1 for name in (*BINS, *LABEL_BINS)
}
