"""The best few checkpoints on one prompt at a price."""

from __future__ import annotations

from collections.abc import Sequence


def priced_chain(
    base: int, positions: Sequence[int], uses: Sequence[float], price: float
) -> list[int]:
    """Return the indices of the checkpoints that save most, less `price` for each.

    `uses[i]` later prompts are expected to leave between position i and the next one, so a
    checkpoint at c_k serves T(c_k) = the sum of uses from there on, and the set saves
    sum_k (c_k - c_{k-1}) T(c_k) - price |C|, with c_0 = `base`. The staircase of staircase.py for
    a handful of candidates: O(n^2) in plain Python beats any array.

    Parameters
    ----------
    base
        The resume point.
    positions
        Candidates, ascending, unique, beyond `base`.
    uses
        Of one length with `positions`; non-negative.
    price
        Tokens that a checkpoint has to save.
    """
    count = len(positions)
    survival = [0.0] * (count + 1)
    for i in range(count - 1, -1, -1):
        survival[i] = survival[i + 1] + uses[i]
    value: list[float] = []
    previous: list[int] = []
    for i in range(count):
        position, weight = positions[i], survival[i]
        best, before = (position - base) * weight, -1
        for a in range(i):
            candidate = value[a] + (position - positions[a]) * weight
            if candidate > best:
                best, before = candidate, a
        value.append(best - price)
        previous.append(before)
    last = max(range(count), key=value.__getitem__) if count else -1
    chosen: list[int] = []
    if last >= 0 and value[last] > 0.0:
        while last >= 0:
            chosen.append(last)
            last = previous[last]
    return chosen[::-1]
