"""The default choice of states under a cap: keep what is wanted, then what leaves even gaps."""

from __future__ import annotations

from collections.abc import Sequence


def evenly_retained(
    states: Sequence[int], wanted: Sequence[int], most: int, length: int
) -> list[int]:
    """Return at most `most` positions: those just wanted before those already stored.

    Of a kind, the state leaves first whose loss is least for overlaps uniform on 1..`length`:
    between neighbours a < x < b it is (x - a) (b - x), up to a factor, since overlaps in [x, b)
    resume at a instead of x. Of equal losses the deepest leaves.

    Parameters
    ----------
    states, wanted
        Ascending positions in tokens: resident states, and those that a prompt would store.
    most
        The cap, 0 or more.
    length
        Length of the prompt in tokens, at least the deepest position.
    """
    kept = sorted({*states, *wanted})
    fresh = set(wanted)
    while len(kept) > most:
        old = len(kept) > len(fresh)
        least, leaving = 0, -1
        for index, x in enumerate(kept):
            if old and x in fresh:
                continue
            before = kept[index - 1] if index else 0
            after = kept[index + 1] if index + 1 < len(kept) else length + 1
            loss = (x - before) * (after - x)
            if leaving < 0 or loss <= least:
                least, leaving = loss, index
        fresh.discard(kept[leaving])
        del kept[leaving]
    return kept
