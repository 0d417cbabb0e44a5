"""What an entry can be expected to bring, by its age and its kind."""

from __future__ import annotations

from collections.abc import Iterable

_ADD_ONE = (1.0).__add__
_LEAST, _MOST = 32, 1024  # lives after which the index is made anew


class Hazard:
    """Learns when entries are used, and tells how soon one of an age can be expected to be.

    Ages are in requests since the last use, below 2^31, and fall into bins that double: bin k holds
    ages from 2^(k-1) up to 2^k. For each kind and bin, `came` counts the entries that came to that
    age, and `used` those that were used there. What is evicted counts up to the age at which it
    left. The counts start from one entry used in four, so that an age hardly anything came to is
    neither trusted nor written off, and halve now and then.

    `index[kind][bin]` is the greatest number of uses per request that can be had by keeping an
    entry of that age up to some later one: uses by then / requests waited. The rate at the age
    itself would not do: a conversation is hardly ever continued within seconds, so what has just
    come would be the first to go. A list here stays the same object when it is learned anew.

    Parameters
    ----------
    kinds
        Kinds of entries that are told apart.

    Source: the counts are those of N. Beckmann et al., "LHD: improving cache hit rate by maximizing
    hit density", NSDI 2018; the index is that of J. C. Gittins, "Bandit processes and dynamic
    allocation indices", Journal of the Royal Statistical Society B 41(2), 1979.
    """

    BINS = 32
    HALVING = 50_000

    def __init__(self, kinds: int) -> None:
        self.came = [[4.0] * self.BINS for _ in range(kinds)]
        self.used = [[1.0] * self.BINS for _ in range(kinds)]
        self.index = [index_of(*tables) for tables in zip(self.used, self.came, strict=True)]
        self.learned = 0  # how often the index has been made anew
        self._lives = 0
        self._due = _LEAST

    def note_use(self, kind: int, age: int) -> None:
        """Count an entry that was used at `age`."""
        self.used[kind][age.bit_length()] += 1
        self.note_end(kind, age)

    def note_end(self, kind: int, age: int) -> None:
        """Count an entry that was last seen at `age`."""
        came = self.came[kind]
        bins = age.bit_length() + 1
        came[:bins] = map(_ADD_ONE, came[:bins])  # it came to all these ages
        self._lives += 1
        if self._lives >= self._due:
            self._learn()
            self._due = self._lives + min(max(self._lives // 8, _LEAST), _MOST)

    def _learn(self) -> None:
        """Make the index from the counts, which lose half their weight when there are many."""
        if self._lives >= self.HALVING:
            self._lives //= 2
            for table in (self.came, self.used):
                for row in table:
                    row[:] = [count / 2 for count in row]
        self.learned += 1
        for index, used, came in zip(self.index, self.used, self.came, strict=True):
            index[:] = index_of(used, came)


def index_of(used: Iterable[float], came: Iterable[float]) -> list[float]:
    """Return, for each bin of ages, the most uses per request that can be had from there on.

    An entry that is used in a bin is used in the middle of it. From the last bins backwards, bins
    are joined to the next ones as long as those bring more: what then stands first is the greatest
    ratio that any end can give, in one pass.
    """
    stretches: list[tuple[float, float, float]] = []  # uses, requests, share left; the next on top
    index = []
    chances = [min(uses / all_, 1.0) for uses, all_ in zip(used, came, strict=True)]
    for age_bin in range(len(chances) - 1, -1, -1):
        chance, width = chances[age_bin], 1 << max(age_bin - 1, 0)
        uses, requests, left = chance, width * (1 - chance / 2), 1 - chance
        while stretches and stretches[-1][0] * requests > uses * stretches[-1][1]:
            more, longer, fewer = stretches.pop()
            uses, requests, left = uses + left * more, requests + left * longer, left * fewer
        stretches.append((uses, requests, left))
        index.append(uses / requests)
    return index[::-1]
