"""Fields of a file that are not read: counted within bounds, and reported in one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from simulator.base.errors import printable
from workloads.anomaly import Anomaly

MOST_COUNTED = 1000  # different names; bounded, since names may be as many as values
MOST_SHOWN = 12
_MOST_CHARACTERS = 60  # of a name


@dataclass(slots=True)
class FieldCount:
    """The number of occurrences of a field in `unit` ("rows" or "times"), and its first line."""

    count: int
    first_line: int | None
    unit: str


@dataclass(slots=True)
class UnusedFields:
    """The fields of a file that its reader does not use, by their path.

    A path describes nested fields as in `body.messages[].name`. At most `MOST_COUNTED` names are
    kept; `others` counts the occurrences of further ones.
    """

    counts: dict[str, FieldCount] = field(default_factory=dict)
    others: int = 0

    def add(self, paths: Iterable[str], line: int | None, unit: str = "rows") -> None:
        """Count the fields of a row, or those of all objects in a document."""
        for path in paths:
            known = self.counts.get(path)
            if known is not None:
                known.count += 1
            elif len(self.counts) < MOST_COUNTED:
                self.counts[path] = FieldCount(1, line, unit)
            else:
                self.others += 1

    def add_many(self, path: str, count: int, line: int | None) -> None:
        """Count a field that `count` rows have."""
        if path in self.counts or len(self.counts) < MOST_COUNTED:
            known = self.counts.setdefault(path, FieldCount(0, line, "rows"))
            known.count += count
        else:
            self.others += count

    def forget(self, not_needed: Collection[str]) -> None:
        """Drop fields that a format deliberately ignores; `*.NAME` matches a name at any depth."""
        endings = tuple(name[1:] for name in not_needed if name.startswith("*."))
        for path in list(self.counts):
            if path in not_needed or f".{path}".endswith(endings or ("\0",)):
                del self.counts[path]

    def fact(self) -> str | None:
        """Return a line on the unused fields and their counts, None if there are none."""
        ordered = self._ordered()
        if not ordered:
            return None
        shown = [f"`{_shown(path)}` ({_times(tally)})" for path, tally in ordered[:MOST_SHOWN]]
        more = len(ordered) - len(shown)
        if self.others:
            shown.append(f"and more than {more:,} more")
        elif more:
            shown.append(f"and {more:,} more")
        return f"not used: {', '.join(shown)}"

    def anomalies(self) -> Iterator[Anomaly]:
        """Yield an anomaly for each field, the most frequent first, and one for those not shown."""
        ordered = self._ordered()
        for path, tally in ordered[:MOST_SHOWN]:
            detail = f"`{_shown(path)}` ({_times(tally)}): a field that is not used"
            yield Anomaly("not-used", tally.count, tally.first_line, detail)
        rest = ordered[MOST_SHOWN:]
        if rest or self.others:
            count = sum(tally.count for _, tally in rest) + self.others
            names = f"{len(rest):,}" if not self.others else f"more than {len(rest):,}"
            yield Anomaly("not-used", count, None, f"and {names} more fields that are not used")

    def _ordered(self) -> list[tuple[str, FieldCount]]:
        """Return the fields, the most frequent first, ties in the order of first occurrence."""
        return sorted(self.counts.items(), key=lambda item: -item[1].count)


def _shown(path: str) -> str:
    return printable(path.replace("`", "'"), _MOST_CHARACTERS)


def _times(tally: FieldCount) -> str:
    unit = tally.unit.removesuffix("s") if tally.count == 1 else tally.unit
    return f"{tally.count:,} {unit}"
