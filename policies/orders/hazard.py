"""What an entry can be expected to bring, by its age and its kind."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

_LEAST, _MOST = 32, 1024  # lives after which the index is made anew


class Hazard:
    """Learns when entries are used, and tells how soon one of an age can be expected to be.

    Ages are in requests since the last use, below 2^31, and fall into bins that double: bin k holds
    ages from 2^(k-1) up to 2^k. For each kind and bin, `ended` counts the entries that were used or
    evicted at that age, and `used` those that were used. An entry came to all ages up to the one at
    which it ended. The counts start from one entry used in four at every age, so that an age hardly
    anything came to is neither trusted nor written off, and halve now and then.

    `index[kind][bin]` is the greatest number of uses per request that can be had by keeping an
    entry of that age up to some later one: uses by then / requests waited. The rate at the age
    itself would not do: a conversation is hardly ever continued within seconds, so what has just
    come would be the first to go. `lows[kind][bin]` is the least index up to that age, and remains
    the least below age `holds[kind][bin]`. A list stays the same object when it is learned anew.

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
        self.ended = [[0.0] * (self.BINS - 1) + [4.0] for _ in range(kinds)]
        self.used = [[1.0] * self.BINS for _ in range(kinds)]
        self.index = [[0.0] * self.BINS for _ in range(kinds)]
        self.lows = [[0.0] * self.BINS for _ in range(kinds)]
        self.holds = [[0] * self.BINS for _ in range(kinds)]
        self.learned = 0  # how often the index has been made anew
        self._before: list[list[float]] = [[] for _ in range(kinds)]  # `ended` at that time
        self._lives = 0
        self._batch = self._left = _LEAST  # lives between two times, and until the next
        self._learn()

    def note_use(self, kind: int, age: int) -> None:
        """Count an entry that was used at `age`."""
        age_bin = age.bit_length()
        self.used[kind][age_bin] += 1
        self.ended[kind][age_bin] += 1
        self._left -= 1
        if not self._left:
            self._renew()

    def note_end(self, kind: int, age: int) -> None:
        """Count an entry that was last seen at `age`."""
        self.ended[kind][age.bit_length()] += 1
        self._left -= 1
        if not self._left:
            self._renew()

    def _renew(self) -> None:
        """Learn, and let the counts lose half their weight when there are many."""
        self._lives += self._batch
        if self._lives >= self.HALVING:
            self._lives //= 2
            for table in (self.ended, self.used):
                for row in table:
                    row[:] = [count / 2 for count in row]
        self._learn()
        self.learned += 1
        self._batch = self._left = min(max(self._lives // 8, _LEAST), _MOST)

    def _learn(self) -> None:
        """Make the index from the counts, for kinds of which there are new ones."""
        for kind, ended in enumerate(self.ended):
            if ended != self._before[kind]:
                self._before[kind][:] = ended
                came = list(accumulate(reversed(ended)))[::-1]
                self.index[kind][:] = index = index_of(self.used[kind], came)
                self.lows[kind][:] = lows = list(accumulate(index, min))
                self.holds[kind][:] = holding(lows)


def holding(lows: list[float]) -> list[int]:
    """Return, for each bin of ages, the age from which on the least index is a lesser one."""
    age = 1 << len(lows)
    ages = [age]
    for age_bin in range(len(lows) - 1, 0, -1):
        if lows[age_bin] < lows[age_bin - 1]:
            age = 1 << (age_bin - 1)
        ages.append(age)
    return ages[::-1]


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
