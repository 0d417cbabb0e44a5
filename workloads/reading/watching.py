"""JSON decoded into typed records, with an eye on the fields of which the record knows nothing.

msgspec passes over what a struct does not declare. Such fields are counted here, and those found
that belong to the key of a cached prefix (`isolation`), whether a format declares them or not. A
record with fields not met before is looked at twice; the types then learn them (`learning`).
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from workloads.reading.known_fields import known_fields
from workloads.reading.learning import Learning
from workloads.reading.places import Met, Place, walk
from workloads.rows import Rows

Line = TypeVar("Line")

_any = msgspec.json.Decoder().decode


class Watch(Generic[Line]):
    """Decodes records of one kind, and tells the rows what else a record holds.

    Parameters
    ----------
    kind
        A msgspec struct, or a list of them. Of other types nothing is known.
    rows
        Told of unused fields and of keys.
    path
        Where the records stand, such as `spans[]`; empty for lines.
    """

    def __init__(self, kind: type[Line], rows: Rows, path: str = "") -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._rows = rows
        if not path:
            rows.isolation.begin()
        known = known_fields(kind)
        self._top = None if known is None else Place(known, path, holds_key=True)
        self._learning = None if self._top is None else Learning(kind, self._top)

    def decode(self, text: bytes | msgspec.Raw, line: int, unit: str = "rows") -> Line:
        """Return a record; its fields count once a line, or as often as they come ("times").

        Raises
        ------
        msgspec.DecodeError, UnicodeDecodeError, RecursionError
            Those of `msgspec.json.decode`.
        """
        learning = self._learning
        if learning is None:
            record = self._decode(text)
            if self._top is not None:
                self._look(self._top, text, line, unit)
            return record
        met = Met()
        try:
            record = learning.decode(text, met)
        except msgspec.ValidationError:
            record = self._decode(text)
            self._look(learning.top, text, line, unit)
        else:
            self._tell(met, line, unit)
        return record

    def _look(self, top: Place, text: bytes | msgspec.Raw, line: int, unit: str) -> None:
        """Walk through a record whose fields are not all known, and learn them."""
        met = Met()
        walk(top, text.strip() if isinstance(text, bytes) else text, met)
        met.key = {name: _any(raw) for name, raw in met.key.items()}
        self._tell(met, line, unit)
        if self._learning is not None and not self._learning.learn(met):
            self._learning = None

    def _tell(self, met: Met, line: int, unit: str) -> None:
        rows, paths, key = self._rows, met.paths, met.key
        if unit == "times":
            rows.unused.add(paths, None, unit)
            rows.isolation.look_around(key)
            return
        if paths:
            rows.unused.add(dict.fromkeys(paths) if len(paths) > 1 else paths, line)
        if key or rows.isolation.lines:
            rows.isolation.look(line, key)
