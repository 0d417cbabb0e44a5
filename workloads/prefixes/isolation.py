"""Isolation: what a cached prefix has in its key besides tokens (salt, adapter, model, media).

Servers hash these into the first block of a prompt, or into every block (vLLM, "Automatic Prefix
Caching": `cache_salt`, the name of the LoRA adapter, the hashes of multimodal inputs), and a cache
serves one model. So prompts that differ in one of them share nothing, whatever their tokens are.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import printable
from workloads.prefixes.key_fields import KINDS, place_of, value_of

_MOST_KNOWN = 1 << 16  # sets of fields whose key is remembered

Key = tuple[str | None, ...]  # by kind: the value, None where there is none


@dataclass(slots=True)
class Isolation:
    """The keys of all rows while they are read.

    `look` is told what a line says before its row is added; `add` gives a row the key of its
    line, so that rows may also be added later, once all lines are known. Rows that came before
    any line told a key need not be added.
    """

    kept: frozenset[str] = frozenset(KINDS)
    names: dict[str, str] = field(default_factory=dict)  # by kind: what the file calls it
    keys: dict[Key, int] = field(default_factory=lambda: {(None,) * len(KINDS): 0})
    lines: dict[int, int] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    column: array[int] = field(default_factory=lambda: array("i"))
    _usual: int = 0  # the key of rows whose line tells none
    _known: dict[tuple[tuple[str, Any], ...], int] = field(default_factory=dict)
    _line: tuple[int, Mapping[str, Any]] = (-1, {})  # the last line, and what it says

    def look(self, line: int, fields: Mapping[str, Any]) -> None:
        """Keep the key of a line, given its fields, of which most may tell none.

        What the document around it says holds for the line where it says nothing else.
        """
        all_fields = _over(self.document, fields) if self.document else fields
        number = self._number(all_fields)
        self._line = line, all_fields
        if number:
            self.lines[line] = number
        elif self.lines:
            self.lines.pop(line, None)

    def look_within(self, line: int, fields: Mapping[str, Any]) -> None:
        """Keep the key of the row of a line that is added next, where a line has several.

        What the line says holds for the row where it says nothing else.
        """
        around = self._line[1] if self._line[0] == line else self.document
        number = self._number(_over(around, fields))
        if number or self.lines:
            self.lines[line] = number

    def look_around(self, fields: Mapping[str, Any]) -> None:
        """Keep what a document says of all rows that are added until the next one."""
        self.document = dict(fields)
        self._usual = self._number(fields)

    def begin(self) -> None:
        """Forget the lines of another file."""
        self.lines.clear()
        self.look_around({})

    def add(self, line: int, row: int) -> None:
        """Add a row of a line, those before it having none where they were not added."""
        if row > len(self.column):
            self.column.extend([0] * (row - len(self.column)))
        self.column.append(self.lines.get(line, self._usual))

    def _number(self, fields: Mapping[str, Any]) -> int:
        """Return the number of a key, 0 where the fields tell none, and remember it."""
        try:
            pairs = tuple(fields.items())
            if pairs in self._known:
                return self._known[pairs]
        except TypeError:  # a list or an object among them
            return self._new_number(fields)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        number = self._known[pairs] = self._new_number(fields)
        return number

    def _new_number(self, fields: Mapping[str, Any]) -> int:
        best: dict[str, tuple[int, str, str]] = {}
        for name, raw in fields.items():
            place = place_of(name)
            value = None if place is None else value_of(place[0], raw)
            if place is None or value is None:
                continue
            kind, rank = place
            if kind not in best or rank < best[kind][0]:
                best[kind] = rank, name, value
        for kind, (_, name, _) in best.items():
            self.names.setdefault(kind, name)
        key = tuple(best[kind][2] if kind in best else None for kind in KINDS)
        return self.keys.setdefault(key, len(self.keys))

    def _differ(self, rows: int) -> list[set[str | None]]:
        """Return what rows tell of each kind; a model of which nothing is said may be any.

        So a single model that some rows name is that of all.
        """
        counts = np.bincount(self._keys_of(rows), minlength=len(self.keys))
        met = [key for key, count in zip(self.keys, counts.tolist(), strict=True) if count]
        by_kind = [{key[at] for key in met} for at in range(len(KINDS))]
        return [
            values - {None} if kind == "model" and len(values) == 2 else values
            for kind, values in zip(KINDS, by_kind, strict=True)
        ]

    def groups(self, rows: int) -> NDArray[np.int64] | None:
        """Return a number for each row, equal where prefixes may be shared; None for one group."""
        differ = self._differ(rows)
        kept = [kind in self.kept and len(differ[at]) > 1 for at, kind in enumerate(KINDS)]
        groups: dict[Key, int] = {}
        group_of = np.zeros(len(self.keys), dtype=np.int64)
        for key, number in self.keys.items():
            part = tuple(value if keep else None for value, keep in zip(key, kept, strict=True))
            group_of[number] = groups.setdefault(part, len(groups))
        column = group_of[self._keys_of(rows)]
        return column if len(column) and (column != column[0]).any() else None

    def facts(self, rows: int) -> list[str]:
        """Say by what prefixes of rows are kept apart, and by what not though it differs."""
        apart: list[str] = []
        together: list[str] = []
        differ = self._differ(rows)
        counts = np.bincount(self._keys_of(rows), minlength=len(self.keys)).tolist()
        for at, kind in enumerate(KINDS):
            if len(differ[at]) > 1:
                pairs = zip(self.keys, counts, strict=True)
                without = sum(count for key, count in pairs if key[at] is None)
                description = self._described(kind, len(differ[at] - {None}), without)
                (apart if kind in self.kept else together).append(description)
        facts = []
        if apart:
            facts.append(f"prefixes are kept apart by {' and '.join(apart)}")
        if together:
            sentence = f"prefixes are not kept apart by {' and '.join(together)}"
            facts.append(f"{sentence}: they are let share a cache")
        return facts

    def _keys_of(self, rows: int) -> NDArray[np.int64]:
        """Return the number of each row's key; the last rows may not have been added."""
        column = np.zeros(rows, dtype=np.int64)
        column[: len(self.column)] = self.column
        return column

    def _described(self, kind: str, values: int, without: int) -> str:
        parts = [f"{values:,} value{'s' * (values != 1)}"]
        if without:
            parts.append(f"{without:,} row{'s' * (without != 1)} without")
        if kind == "media":
            parts.append("the whole prompt, as the place of the media is not known")
        return f"{printable(self.names[kind], 60)} ({', '.join(parts)})"


def _over(around: Mapping[str, Any], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return fields, and those around them of which they say nothing."""
    if not around:
        return fields
    return {**around, **{name: raw for name, raw in fields.items() if raw is not None}}
