"""Error messages for files of no known format: their fields, and what the nearest format needs.

A format's `matches` asks for fields. Here it is asked about a file with those that exist plus, in
turn, missing ones: the fields that have to be added until it matches are what the file lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from json import JSONDecoder
from typing import Any

from workloads.formats.format import TraceFormat
from workloads.formats.vidur import NAMINGS, VIDUR
from workloads.reading.csv_lines import separated
from workloads.reading.fields import listed
from workloads.reading.head import Head, mentioned

MOST_WAYS = 3  # alternative sets of missing fields in a message
MOST_TRIED = 64  # sets of fields of one format
ALIKE = 0.8  # similarity of two names above which one may be a misspelling of the other


@dataclass(frozen=True, slots=True)
class _Need:
    """A set of fields with which a format would match: those in the file, and those missing."""

    format: str
    there: frozenset[str]
    missing: tuple[str, ...]

    def rank(self, fields: list[str]) -> tuple[float, int]:
        """Return a sort key: the share of these fields in the file; similar names count half."""
        alike = sum(bool(get_close_matches(name, fields, 1, ALIKE)) for name in self.missing)
        near = len(self.there) + alike / 2
        return near / (len(self.there) + len(self.missing)), -len(self.missing)


def field_names(head: Head) -> list[str]:
    """Return the field names of the first object, or the columns of a table."""
    if head.record is not None:
        return list(head.record)
    return list(head.columns) or mentioned(head.text)


def description(head: Head, formats: Mapping[str, TraceFormat]) -> str:
    """Return a phrase on the fields of a file, and on what the nearest format also needs."""
    fields = field_names(head)
    if not fields:
        return ""
    listing = _of_elements(head, formats)
    if listing:
        return f"; found a JSON array; the format {listing} wants one object a line"
    other = separated(head.columns[0]) if len(head.columns) == 1 else ""
    if other:
        return f"; found: {listed(fields)}{other}"
    lengths = _lengths(head)
    sentence = f"; found: {listed(fields)}{lengths}"
    needs = _nearest(head, fields, formats)
    if not needs or (lengths and not needs[0].there):
        return sentence
    sets = dict.fromkeys(" and ".join(f"'{name}'" for name in need.missing) for need in needs)
    return f"{sentence}; nearest: {needs[0].format}, which also needs {' or '.join(sets)}"


def _of_elements(head: Head, formats: Mapping[str, TraceFormat]) -> str:
    """Return the format that an array's first element would have on a line of its own."""
    element = _element(head)
    if element is None:
        return ""
    return next((name for name, format in formats.items() if format.matches(element)), "")


def _element(head: Head) -> Head | None:
    """Return the first object of an array as the head of a file, None for other content."""
    text = head.text.lstrip()
    inner = text[1:].lstrip()
    if text[:1] != b"[" or inner[:1] != b"{":
        return None
    return Head(head.path, text=inner, record=_first_object(inner))


def _first_object(text: bytes) -> dict[str, Any] | None:
    """Return the object at the start of a text, None if it is incomplete."""
    try:
        record, _ = JSONDecoder().raw_decode(text.decode(errors="ignore"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _lengths(head: Head) -> str:
    """Return a hint on how to convert lengths in JSON, which no format reads."""
    element = _element(head) or head
    for pair in NAMINGS:
        if not element.columns and element.has(*pair):
            names = " and ".join(f"'{name}'" for name in pair)
            return f"; lengths alone are read as {VIDUR.name}: CSV with the columns {names}"
    return ""


def _nearest(head: Head, fields: list[str], formats: Mapping[str, TraceFormat]) -> list[_Need]:
    """Return the sets of fields with which the nearest format would match, if any is near."""
    needs = [need for name, format in formats.items() for need in _needs(head, name, format)]
    ranks = [need.rank(fields) for need in needs]
    best = max(ranks, default=(0.0, 0))
    if best[0] <= 0:
        return []
    first = needs[ranks.index(best)]
    return [
        need
        for need in needs
        if need.format == first.format
        and (len(need.there), len(need.missing)) == (len(first.there), len(first.missing))
    ][:MOST_WAYS]


def _needs(head: Head, name: str, format: TraceFormat) -> list[_Need]:
    """Return the sets of fields that would each make a format match."""
    waiting: list[list[bool]] = [[]]
    needs = []
    for _ in range(MOST_TRIED):
        if not waiting:
            break
        known = waiting.pop(0)
        probe = _Probe(head, known)
        if format.matches(probe) and probe.missing:
            missing = tuple(dict.fromkeys(probe.missing))
            needs.append(_Need(name, frozenset(probe.there), missing))
        waiting += [[*probe.answers[:at], False] for at in range(len(known), len(probe.answers))]
    return needs


class _Probe(Head):
    """A head that also claims to have missing fields, unless `answers` denies it."""

    def __init__(self, head: Head, answers: list[bool]) -> None:
        record = None if head.record is None else _Record(head.record, self._assume)
        super().__init__(head.path, head.names, head.text, record, head.columns)
        for name, value in (("answers", list(answers)), ("at", 0), ("there", []), ("missing", [])):
            object.__setattr__(self, name, value)

    answers: list[bool]
    at: int
    there: list[str]
    missing: list[str]

    def has(self, *fields: str) -> bool:
        if self.text[:1] == b"[":
            return super().has(*fields)  # a list has no fields
        return self._ask(fields, lambda field: Head.has(self, field), table=False)

    def mentions(self, *fields: str) -> bool:
        return self._ask(fields, lambda field: Head.mentions(self, field), table=False)

    def has_columns(self, *names: str) -> bool:
        return self._ask(names, lambda name: Head.has_columns(self, name), table=True)

    def _ask(self, fields: tuple[str, ...], has: Callable[[str], bool], *, table: bool) -> bool:
        if table != bool(self.columns):
            return False
        there = [field for field in fields if has(field)]
        missing = [field for field in fields if field not in there]
        self.there.extend(there)
        return not missing or self._assume(*missing)

    def _assume(self, *missing: str) -> bool:
        if self.at == len(self.answers):
            self.answers.append(True)
        answer = self.answers[self.at]
        object.__setattr__(self, "at", self.at + 1)
        if answer:
            self.missing.extend(missing)
        return answer


class _Record(dict[str, Any]):
    """The first object of a file, extended by assumed fields."""

    def __init__(self, record: dict[str, Any], assume: Callable[[str], bool]) -> None:
        super().__init__(record)
        self._assume = assume

    def get(self, key: str, default: Any = None) -> Any:
        if key in self:
            return self[key]
        return "" if self._assume(key) else default
