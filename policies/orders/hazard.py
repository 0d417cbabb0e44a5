"""The expected rate of use of an entry, by its age and its kind."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

_LEAST, _MOST = 32, 1024  # uses and evictions after which the index is computed anew


class Hazard:
    """Learns at which ages entries are used, and the rate of use to expect of an entry by its age.

    Ages are in requests since the last use, below 2^31, in bins of doubling width: bin k holds
    ages from 2^(k-1) up to 2^k. For each kind and bin, `ended` counts the entries that were used or
    evicted at that age, and `used` those that were used. An entry reached all ages up to the one
    at which it ended. The counts start from one entry used in four at every age, as a prior for
    ages that few entries reached, and are halved now and then.

    `index[kind][bin]` is the Gittins index of that age: the greatest ratio, over all later ages, of
    expected uses to requests waited, if the entry is kept up to that age. The rate at the age
    itself would not do: a conversation is hardly ever continued within seconds, so a new entry
    would be the first to leave. `lows[kind][bin]` is the least index up to that age, and remains
    the least below age `holds[kind][bin]`. A list stays the same object when it is learned anew.

    Parameters
    ----------
    kinds
        Number of kinds of entries.

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
        self.learned = 0  # how often the index has been computed anew
        self._before: list[list[float]] = [[] for _ in range(kinds)]  # `ended` at that time
        self._lives = 0
        self._batch = self._left = _LEAST  # counts between two computations, and until the next
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
        """Count an entry that was evicted at `age`."""
        self.ended[kind][age.bit_length()] += 1
        self._left -= 1
        if not self._left:
            self._renew()

    def _renew(self) -> None:
        """Compute the index anew, and halve the counts when there are many."""
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
        """Compute the index from the counts, for kinds with new ones."""
        for kind, ended in enumerate(self.ended):
            if ended != self._before[kind]:
                self._before[kind][:] = ended
                came = list(accumulate(reversed(ended)))[::-1]
                self.index[kind][:] = index = index_of(self.used[kind], came)
                self.lows[kind][:] = lows = list(accumulate(index, min))
                self.holds[kind][:] = holding(lows)


def holding(lows: list[float]) -> list[int]:
    """Return, for each bin of ages, the age at which the least index next falls."""
    age = 1 << len(lows)
    ages = [age]
    for age_bin in range(len(lows) - 1, 0, -1):
        if lows[age_bin] < lows[age_bin - 1]:
            age = 1 << (age_bin - 1)
        ages.append(age)
    return ages[::-1]


def index_of(used: Iterable[float], came: Iterable[float]) -> list[float]:
    """Return the Gittins index of each bin of ages, the greatest rate of use over all later ages.

    An entry that is used in a bin is taken to be used in its middle. In one pass from the last bin
    backwards, each bin is joined with the stretches after it as long as these have higher rates;
    the rate of the joined stretch is then the greatest over all later ages.
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
