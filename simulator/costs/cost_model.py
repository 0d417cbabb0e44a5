"""The cost model: seconds of prefill and of loading and storing states, from a cost profile."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from simulator.base.errors import UsageError
from simulator.costs.profile import Profile

_MICRO = 1e-6
_TABULATED_TOKENS = 1 << 17


class CostModel:
    """Computes durations from a cost profile, at batch size 1.

    A pass that prefills n tokens after a context of c tokens takes

        t(c, n) = F(n) + e n (c + n/2) + g c

    where F is a table and e, g are coefficients of the profile. F is interpolated linearly and
    extrapolated with its last slope; results count the requests for which that happened. Below its
    first entry F is constant, and F(0) = 0.

    If g = 0, a cache hit never costs more than a miss, apart from loading the state: F does not
    decrease and the second term counts pairs of tokens.

    Parameters
    ----------
    profile
        The cost profile.
    """

    def __init__(self, profile: Profile) -> None:
        prefill, checkpoint = profile.prefill, profile.checkpoint
        self._n, self._seconds = prefill.F.n, [us * _MICRO for us in prefill.F.us]
        self._last_slope = (self._seconds[-1] - self._seconds[-2]) / (self._n[-1] - self._n[-2])
        # F of every number of tokens up to a limit, since nearly every request needs another.
        self._table = _tabulated(self._n, self._seconds, min(self._n[-1], _TABULATED_TOKENS))
        self._pair_seconds = prefill.e_us_per_pair * _MICRO
        self._context_seconds = prefill.g_us_per_token * _MICRO
        mebibytes = profile.state_bytes / 2**20
        self._snapshot_seconds = mebibytes * checkpoint.snapshot_us_per_mib * _MICRO
        overhead = checkpoint.cut_overhead
        self._cut_seconds = None if isinstance(overhead, str) else overhead * _MICRO
        io = profile.io
        tiers = {"device": io.d2d, "host": io.h2d, "disk": io.disk}
        self._links = {
            tier: (link.latency_us * _MICRO, 1e-9 / link.gbps)
            for tier, link in tiers.items()
            if link is not None
        }
        self._name = profile.profile_id

    def prefill_seconds(self, start: int, stop: int) -> float:
        """Return the seconds of one pass over the tokens `(start, stop]`; 0 if there are none."""
        tokens = stop - start
        if tokens <= 0:
            return 0.0
        table = self._table
        own = table[tokens] if tokens < len(table) else self._interpolate(tokens)
        pairs = tokens * (start + 0.5 * tokens)
        return own + self._pair_seconds * pairs + self._context_seconds * start

    def restore_seconds(self, size_bytes: int, tier: str = "device") -> float:
        """Return the seconds to load `size_bytes` from a memory tier; 0 for no bytes.

        Parameters
        ----------
        size_bytes
            Bytes to copy.
        tier
            Where they are stored: "device", "host" or "disk".

        Raises
        ------
        UsageError
            If the profile has no such tier.
        """
        if not size_bytes:
            return 0.0
        link = self._links.get(tier)
        if link is None:
            raise UsageError(f"profile '{self._name}' has no figures for tier '{tier}'")
        return link[0] + size_bytes * link[1]

    def capture_seconds(self, start: int, stop: int, positions: Sequence[int]) -> float:
        """Return the seconds that storing states adds to the prefill of `(start, stop]`.

        Each state is copied once. An exact state inside the pass requires the pass to be cut there,
        since states inside a kernel are rounded. A cut costs the profile's constant, or else the
        difference in prefill time between the pieces and the whole, but at least 0. A state at
        `stop` needs no cut.

        Parameters
        ----------
        start, stop
            The pass, in tokens from the start of the prompt.
        positions
            Where states are stored: ascending, unique, within `(start, stop]`.
        """
        if not positions:
            return 0.0
        copies = len(positions) * self._snapshot_seconds
        cuts = len(positions) - (positions[-1] == stop)
        if not cuts:
            return copies
        if self._cut_seconds is not None:
            return copies + cuts * self._cut_seconds
        return copies + self._cutting_seconds(start, stop, positions[:cuts])

    def _cutting_seconds(self, start: int, stop: int, cuts: Sequence[int]) -> float:
        """Return the extra prefill time of a pass cut into pieces, at least 0.

        Terms for pairs of tokens cancel: those of the pieces sum to that of the whole.
        """
        f = self._table.__getitem__ if stop - start < len(self._table) else self._f
        seconds = f(cuts[0] - start) + f(stop - cuts[-1]) - f(stop - start)
        low = cuts[0]
        for high in cuts[1:]:
            seconds += f(high - low)
            low = high
        if self._context_seconds:
            seconds += self._context_seconds * sum(cuts)
        return seconds if seconds > 0.0 else 0.0

    def _f(self, tokens: int) -> float:
        """Return the time F of a prefill without context and pair term, in seconds."""
        table = self._table
        return table[tokens] if tokens < len(table) else self._interpolate(tokens)

    def _interpolate(self, tokens: int) -> float:
        """Interpolate the table F at a number of tokens, or extrapolate its last two entries."""
        n, seconds = self._n, self._seconds
        if tokens > n[-1]:
            return seconds[-1] + self._last_slope * (tokens - n[-1])
        right = bisect_left(n, tokens)
        slope = (seconds[right] - seconds[right - 1]) / (n[right] - n[right - 1])
        value = seconds[right] - slope * (n[right] - tokens)
        # Rounding must not make F smaller than the previous entry.
        return max(value, seconds[right - 1])


def _tabulated(n: Sequence[int], seconds: Sequence[float], last: int) -> list[float]:
    """Return F(0), ..., F(last) in seconds: interpolated, non-decreasing, and 0 for no tokens."""
    table = [0.0] + [seconds[0]] * n[0]
    for (left, low), (right, high) in pairwise(zip(n, seconds, strict=True)):
        slope = (high - low) / (right - left)
        table += [
            max(low, high - slope * (right - tokens)) for tokens in range(left + 1, right + 1)
        ]
        if right >= last:
            break
    return table[: last + 1]
