"""Windows of consecutive requests, in each of which the law of overlaps is estimated."""

from __future__ import annotations

from dataclasses import dataclass

from reports.drift.laws import Int64
from simulator.base.errors import UsageError

MOST_WINDOWS = 40
FEWEST_WINDOWS = 4  # least number of windows after the warm-up
NARROWEST = 100  # requests; fewer hardly show a distribution


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of equal length from the first request on; requests left over at the end are unused.

    Parameters
    ----------
    width
        The number of requests in each window, a multiple of `block`.
    count
        The number of windows.
    first
        The index of the first window that counts; those before it are warm-up.
    block
        Consecutive requests that a permutation keeps together, so that their dependence survives.
    """

    width: int
    count: int
    first: int
    block: int

    def start(self, window: int) -> int:
        """Return the index of the first request of a window."""
        return window * self.width

    def of(self, depths: Int64, window: int) -> Int64:
        """Return the overlaps of the requests of a window, shape (width,)."""
        return depths[window * self.width : (window + 1) * self.width]

    @property
    def counted(self) -> range:
        """The indices of the windows that count."""
        return range(self.first, self.count)


def cut(requests: int, warmup: int) -> Windows:
    """Return the windows of a trace: forty, or as many of a hundred requests as there are.

    The first that counts begins at request `warmup` or later. The length of a block is about the
    cube root of the width, the rate of growth that Künsch (1989) derives.

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
