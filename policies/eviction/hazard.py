"""How likely a use is, by age and by uses so far."""

from __future__ import annotations

from typing import ClassVar

_ADD_ONE = (1.0).__add__


class Hazard:
    """Learns the rate of uses at an age since the last one, for entries of so many uses.

    Ages are in requests, below 2^31, and fall into bins that double: bin k holds ages below 2^k.
    For each number of uses and bin, `came` counts the entries that came to that age, and `used`
    those that were used there. What is evicted counts up to the age at which it left. The counts
    start from one entry used in four, so that old age is judged with caution while little is
    known, and halve now and then.
    """

    MOST_USES: ClassVar[int] = 3
    BINS: ClassVar[int] = 32
    HALVING: ClassVar[int] = 50_000

    def __init__(self) -> None:
        rows = self.MOST_USES + 1
        self.came = [[4.0] * self.BINS for _ in range(rows)]
        self.used = [[1.0] * self.BINS for _ in range(rows)]
        self._counted = 0

    def note_use(self, uses: int, age: int) -> None:
        """Count an entry that was used at `age`."""
        self.note_end(uses, age)
        self.used[uses if uses < self.MOST_USES else self.MOST_USES][age.bit_length()] += 1

    def note_end(self, uses: int, age: int) -> None:
        """Count an entry that was last seen at `age`."""
        came = self.came[uses if uses < self.MOST_USES else self.MOST_USES]
        bins = age.bit_length() + 1
        came[:bins] = map(_ADD_ONE, came[:bins])  # it came to all these ages
        self._counted += 1
        if self._counted >= self.HALVING:
            self._halve()

    def rate(self, uses: int, age: int) -> float:
        """Return the expected uses per request at `age`."""
        age_bin = age.bit_length()
        return self.used[uses][age_bin] / self.came[uses][age_bin] / (1 << age_bin)

    def _halve(self) -> None:
        self._counted = 0
        for table in (self.came, self.used):
            for row in table:
                row[:] = [count / 2 for count in row]
