"""The best checkpoints on one prompt at a price."""

from __future__ import annotations

from math import inf

Line = tuple[float, float, int]  # its value at 0, how steeply it falls, the candidate it belongs to


def priced_chain(gains: list[float], survival: list[float], price: float) -> list[int]:
    """Return the indices of the checkpoints that save most, less `price` for each; descending.

    Candidates come from the deepest up. By summation by parts a set c_1 < ... < c_M saves

        sum_k (G(c_k) - G(c_{k-1})) T(c_k) = sum_k G(c_k) (T(c_k) - T(c_{k+1})),    G(c_0) = 0,

    so that the best value A(i) of a set whose shallowest member is i follows from those below it:

        A(i) = G(i) T(i) - price + max(0, max over deeper j of A(j) - G(i) T(j)).

    These are lines in G, each steeper than those before it, looked at where G falls: a line once
    passed by a later one is passed for good. So the best is kept at the front of their upper
    envelope, and the whole is O(n). (tree_priced.py solves the same for prompts that branch.)

    Where choosing gains exactly nothing it is not chosen.

    Parameters
    ----------
    gains
        G of the candidates less that of the resume point: positive, strictly falling.
    survival
        T of each: the uses to expect of it where nothing deeper serves them; non-negative, rising.
    price
        What a checkpoint has to save: 0 or more, infinity included.

    Examples
    --------
    >>> priced_chain([20, 10], [0.5, 1.5], 8)
    [1]
    >>> priced_chain([20, 10], [0.5, 1.5], 4)
    [1, 0]
    """
    worth: list[int] = []
    served = 0.0
    for i, gain in enumerate(gains):
        # A best set has no candidate that does not pay for itself alone, since others only take
        # from its saving, and none that serves no more uses than a deeper one.
        uses = survival[i]
        if gain * uses > price and uses > served:
            served = uses
            worth.append(i)
    if len(worth) < 2:  # as `best_set`, without a call
        return worth
    return best_set(worth, gains, survival, price)


def best_set(
    worth: list[int], gains: list[float], survival: list[float], price: float
) -> list[int]:
    """Return the same of candidates that alone are worth their price, and serve ever more uses."""
    if len(worth) < 2:
        return worth
    if len(worth) == 2:
        return _best_of_two(worth[0], worth[1], gains, survival, price)
    envelope: list[Line] = []
    first = top = 0
    most = 0.0
    deeper: dict[int, int] = {}
    for i in worth:
        gain = gains[i]
        value = gain * survival[i] - price
        if envelope:
            first = _best_at(gain, envelope, first)
            start, fall, j = envelope[first]
            if start - gain * fall > 0.0:
                value += start - gain * fall
                deeper[i] = j
        if value >= most:  # of equal sets, the one that starts earlier
            most, top = value, i
        _extend(envelope, first, (value, survival[i], i))
    chosen = [top]
    while top in deeper:
        top = deeper[top]
        chosen.append(top)
    return chosen


def _best_of_two(
    deep: int, shallow: int, gains: list[float], survival: list[float], price: float
) -> list[int]:
    """Return the best of two candidates that are each worth their price."""
    alone = gains[deep] * survival[deep] - price
    both = alone - gains[shallow] * survival[deep]  # what the deep one adds to the other
    value = gains[shallow] * survival[shallow] - price
    if both > 0.0:
        value += both
    if value < alone:
        return [deep]
    return [shallow, deep] if both > 0.0 else [shallow]


def best_few(gains: list[float], survival: list[float], chosen: list[int], most: int) -> list[int]:
    """Return `most` of the chosen checkpoints: those without which least is lost are left out.

    They go one by one. Without `c_k` the uses that it served resume from the one above it, so that
    (G(c_k) - G(c_{k-1})) (T(c_k) - T(c_{k+1})) is lost.

    Examples
    --------
    >>> best_few([20, 10], [0.5, 1.5], [1, 0], 1)
    [1]
    """
    kept = [*chosen]  # from the shallowest to the deepest
    while len(kept) > most:
        above, least, weakest = 0.0, inf, 0
        for at, i in enumerate(kept):
            deeper = survival[kept[at + 1]] if at + 1 < len(kept) else 0.0
            loss = (gains[i] - above) * (survival[i] - deeper)
            if loss < least:
                least, weakest = loss, at
            above = gains[i]
        del kept[weakest]
    return kept


def _best_at(gain: float, envelope: list[Line], first: int) -> int:
    """Return the index of the highest line at `gain`, from `first` on."""
    while first + 1 < len(envelope):
        (start, fall, _), (next_start, next_fall, _) = envelope[first : first + 2]
        if next_start - gain * next_fall <= start - gain * fall:
            break
        first += 1
    return first


def _extend(envelope: list[Line], first: int, line: Line) -> None:
    """Add the steepest line so far, and drop the lines that are nowhere the highest now."""
    while len(envelope) - first > 1:
        (one, fall_one, _), (two, fall_two, _) = envelope[-2:]
        # The new line passes the last one no later than that has passed the one before.
        if (line[0] - two) * (fall_two - fall_one) < (two - one) * (line[1] - fall_two):
            break
        envelope.pop()
    envelope.append(line)
