"""Isolation keys: what identifies a cached prefix besides its tokens.

These are salt, adapter, model and media. Servers hash the salt, the LoRA adapter and the hashes of
multimodal inputs into the first block of a prompt or into every block (vLLM, "Automatic Prefix
Caching"), and a cache serves one model. So prompts that differ in one of these share nothing,
whatever their tokens are.
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

_MOST_KNOWN = 1 << 16  # sets of fields whose key is cached

Key = tuple[str | None, ...]  # by kind: the value, None where there is none


@dataclass(slots=True)
class Isolation:
    """The isolation keys of all rows while they are read.

    Readers call `look` with a line's fields before they add its row; `add` then gives the row the
    key of its line. Rows may also be added later, after all lines are read. Rows before the first
    line with a key need not be added.
    """

    kept: frozenset[str] = frozenset(KINDS)
    names: dict[str, str] = field(default_factory=dict)  # by kind: the field's name in the file
    keys: dict[Key, int] = field(default_factory=lambda: {(None,) * len(KINDS): 0})
    lines: dict[int, int] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    column: array[int] = field(default_factory=lambda: array("i"))
    _usual: int = 0  # the key of rows whose line has none
    _known: dict[tuple[tuple[str, Any], ...], int] = field(default_factory=dict)
    _line: tuple[int, Mapping[str, Any]] = (-1, {})  # the last line and its fields

    def look(self, line: int, fields: Mapping[str, Any]) -> None:
        """Keep the isolation key of a line, if its fields contain one.

        Fields of the enclosing document apply where the line has none.
        """
        all_fields = _over(self.document, fields) if self.document else fields
        number = self._number(all_fields)
        self._line = line, all_fields
        if number:
            self.lines[line] = number
        elif self.lines:
            self.lines.pop(line, None)

    def look_within(self, line: int, fields: Mapping[str, Any]) -> None:
        """Keep the key of the next row to be added, for lines that hold several rows.

        Fields of the line apply where the row has none.
        """
        around = self._line[1] if self._line[0] == line else self.document
        number = self._number(_over(around, fields))
        if number or self.lines:
            self.lines[line] = number

    def look_around(self, fields: Mapping[str, Any]) -> None:
        """Keep a document's fields, which apply to all rows until the next document."""
        self.document = dict(fields)
        self._usual = self._number(fields)

    def begin(self) -> None:
        """Discard the keys of the previous file."""
        self.lines.clear()
        self.look_around({})

    def add(self, line: int, row: int) -> None:
        """Set the isolation key of a row to that of its line; rows never added have no key."""
        if row > len(self.column):
            self.column.extend([0] * (row - len(self.column)))
        self.column.append(self.lines.get(line, self._usual))

    def _number(self, fields: Mapping[str, Any]) -> int:
        """Return the number of the key in these fields, 0 if they have none."""
        try:
            pairs = tuple(fields.items())
            if pairs in self._known:
                return self._known[pairs]
        except TypeError:  # a list or an object among the values cannot be hashed
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
        """Return the different values that the rows have, for each kind of key.

        A row without a model may be for any model, so one model named by some rows applies to all.
        """
        counts = np.bincount(self._keys_of(rows), minlength=len(self.keys))
        met = [key for key, count in zip(self.keys, counts.tolist(), strict=True) if count]
        by_kind = [{key[at] for key in met} for at in range(len(KINDS))]
        return [
            values - {None} if kind == "model" and len(values) == 2 else values
            for kind, values in zip(KINDS, by_kind, strict=True)
        ]

    def groups(self, rows: int) -> NDArray[np.int64] | None:
        """Return a group for each row, within which prefixes may be shared; None for one group."""
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
        """Return notes on which kinds of keys isolate prefixes, and which differ but do not."""
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
        """Return the number of each row's key; rows at the end may not have been added."""
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
    """Return the fields of an inner object, completed by those of the object around it."""
    if not around:
        return fields
    return {**around, **{name: raw for name, raw in fields.items() if raw is not None}}
