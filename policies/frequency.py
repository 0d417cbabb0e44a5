"""Recent frequencies of use, as TinyLFU counts them."""

from __future__ import annotations

from collections.abc import Hashable

from policies.parameters import require_at_least

_MOST = 15  # four bits a counter, as published


class Frequencies:
    """TinyLFU's counters: uses of each key, halved once a sample has been counted.

    The paper approximates the counts by a sketch to save memory; here they are exact, so no hash
    function has to be chosen. Keys whose count falls to 0 are forgotten, which bounds the memory
    by the sample.

    Parameters
    ----------
    sample
        Uses after which all counts are halved.

    Source: G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
    policy", ACM Transactions on Storage 13(4), 2017, section 3.
    """

    __slots__ = ("_counted", "_counts", "_sample")

    def __init__(self, sample: int) -> None:
        require_at_least("sample", sample, 2)
        self._counts: dict[Hashable, int] = {}
        self._counted = 0
        self._sample = sample

    def add(self, key: Hashable) -> None:
        """Count a use of `key`."""
        count = self._counts.get(key, 0)
        if count < _MOST:
            self._counts[key] = count + 1
        self._counted += 1
        if self._counted >= self._sample:
            self._halve()

    def of(self, key: Hashable) -> int:
        """Return the count of `key`."""
        return self._counts.get(key, 0)

    def split(self, upper: Hashable, lower: Hashable) -> None:
        """Give `upper` the count of `lower` as well."""
        if lower in self._counts:
            self._counts[upper] = self._counts[lower]

    def _halve(self) -> None:
        self._counts = {key: count >> 1 for key, count in self._counts.items() if count > 1}
        self._counted >>= 1
