"""Windows of consecutive requests, in which a law is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from reports.drift.laws import Int64
from simulator.base.errors import UsageError

MOST_WINDOWS = 40
FEWEST_WINDOWS = 4  # after the warm-up
NARROWEST = 100  # requests; fewer hardly show a law


@dataclass(frozen=True, slots=True)
class Windows:
    """Equally long windows from the first request on; requests left over at the end are not used.

    Parameters
    ----------
    width
        Requests in each, a multiple of `block`.
    count
        How many there are.
    first
        The first window that counts: those before it are warm-up.
    block
        Requests that a permutation keeps together, so that dependence within them survives.
    """

    width: int
    count: int
    first: int
    block: int

    def start(self, window: int) -> int:
        """Return the first request of a window."""
        return window * self.width

    def of(self, depths: Int64, window: int) -> Int64:
        """Return the overlaps of the requests of a window, shape (width,)."""
        return depths[window * self.width : (window + 1) * self.width]

    @property
    def counted(self) -> range:
        """The windows that count."""
        return range(self.first, self.count)


def cut(requests: int, warmup: int) -> Windows:
    """Return the windows of a trace: forty, or as many of a hundred requests as there are.

    The first that counts begins at request `warmup` or later. Blocks are as long as the cube root
    of the width, which is the rate at which they should grow (Künsch 1989).

    Raises
    ------
    UsageError
        Where fewer than four windows would count.
    """
    width = max(NARROWEST, requests // MOST_WINDOWS)
    block = round(width ** (1 / 3))
    width -= width % block
    windows = Windows(width, requests // width, -(-warmup // width), block)
    if len(windows.counted) < FEWEST_WINDOWS:
        needed = (-(-warmup // NARROWEST) + FEWEST_WINDOWS) * NARROWEST
        raise UsageError(
            f"drift: expected {needed:,} requests or more ({warmup:,} of them are warm-up), found "
            f"{requests:,}"
        )
    return windows
