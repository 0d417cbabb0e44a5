"""LRU stack distances, from a tree of the tokens last used by each request."""

from __future__ import annotations


class RecencyTree:
    """The number of tokens last used by each request, as a Fenwick tree.

    A request's tokens are subtracted as later requests use them again. The tokens last used by all
    later requests together are those an LRU cache has taken in since: the LRU stack distance.

    Parameters
    ----------
    requests
        Number of requests.

    References
    ----------
    R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal
    9(2), 1970; P. M. Fenwick, "A new data structure for cumulative frequency tables", Software:
    Practice and Experience 24(3), 1994.
    """

    def __init__(self, requests: int) -> None:
        self._sums = [0] * (requests + 1)
        self._total = 0

    def add(self, request: int, tokens: int) -> None:
        """Add tokens to those of a request, or remove some where the number is negative."""
        self._total += tokens
        sums, at = self._sums, request + 1
        while at < len(sums):
            sums[at] += tokens
            at += at & -at

    def since(self, request: int) -> int:
        """Return the tokens last used by later requests."""
        sums, at, up_to = self._sums, request + 1, 0
        while at:
            up_to += sums[at]
            at &= at - 1
        return self._total - up_to

    def request_at(self, distance_tokens: float) -> int:
        """Return the earliest request after which at most that many distinct tokens were used."""
        sums, at, left = self._sums, 0, self._total - distance_tokens
        bit = 1 << (len(sums) - 1).bit_length()
        while left > 0 and bit:
            further = at + bit
            if further < len(sums) and sums[further] < left:
                at = further
                left -= sums[at]
            bit >>= 1
        return at
