"""JSON decoded into typed records, with an eye on the fields of which the record knows nothing.

msgspec passes over what a struct does not declare. Here a second look, at names alone, counts
such fields and finds those that belong to the key of a cached prefix (`isolation`), wherever a
format declares them or not. A flat record without either costs nothing more: it is decoded as
one that refuses unknown fields until a line has some.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from workloads.reading.known_fields import known_fields
from workloads.reading.places import NULL, Met, Place, walk
from workloads.rows import Rows

MOST_LEARNT = 32  # other fields of a record that are declared as they come

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
        flat = known is not None and known.flat and isinstance(kind, msgspec.StructMeta)
        self._flat: Flat[Line] | None = Flat(kind, path) if flat else None

    def decode(self, text: bytes | msgspec.Raw, line: int, unit: str = "rows") -> Line:
        """Return a record; its fields count once a line, or as often as they come ("times").

        Raises
        ------
        msgspec.DecodeError, UnicodeDecodeError, RecursionError
            Those of `msgspec.json.decode`.
        """
        flat = self._flat
        if flat is not None:
            try:
                learnt: Line = flat.decode(text)
            except msgspec.ValidationError:
                pass  # a field of which nothing is known yet, or one that is wrong
            else:
                if flat.values is not None:
                    flat.tell(learnt, line, self._rows)
                return learnt
        record = self._decode(text)
        if self._top is not None:
            self._look(self._top, text, line, unit)
        return record

    def _look(self, top: Place, text: bytes | msgspec.Raw, line: int, unit: str) -> None:
        met = Met()
        walk(top, text.strip() if isinstance(text, bytes) else text, met)
        if self._flat is not None and (met.nested or not self._flat.learn(met)):
            self._flat = None
        found = {name: _any(raw) for name, raw in met.key.items()}
        if unit == "rows":
            self._rows.unused.add(dict.fromkeys(met.paths), line, unit)
            self._rows.isolation.look(line, found)
        else:
            self._rows.unused.add(met.paths, None, unit)
            self._rows.isolation.look_around(found)


class Flat(Generic[Line]):
    """A record without others within, which learns what else lines have as they come.

    It declares the fields that lines were seen to have, so that one pass decodes the record and
    tells which of them a line has; a field not seen yet is an error.
    """

    decode: Callable[[bytes | msgspec.Raw], Line]

    def __init__(self, kind: type[Line], path: str) -> None:
        self._kind = kind
        self._path = f"{path}." if path else ""
        self._names: list[str] = []
        self._keys: dict[str, int] = {}  # where the fields of a key stand
        self._build()

    def tell(self, record: Line, line: int, rows: Rows) -> None:
        """Count the other fields of a record."""
        assert self.values is not None
        values = self.values(record)
        if None not in values and NULL not in values:
            rows.unused.add(self._unused, line)
        else:
            there = zip(self._paths, values, strict=True)
            rows.unused.add([path for path, raw in there if path and raw not in (None, NULL)], line)
        if self._keys:
            rows.isolation.look(line, {name: values[at] for name, at in self._keys.items()})

    def learn(self, met: Met) -> bool:
        """Declare the other fields of a record; say whether that can be done."""
        names = [path.removeprefix(self._path) for path in met.paths] + list(met.key)
        new = [name for name in dict.fromkeys(names) if name not in self._names]
        if len(self._names) + len(new) > MOST_LEARNT:
            return False
        self._names += new
        self._keys |= {name: self._names.index(name) for name in met.key}
        try:
            self._build()
        except ValueError:  # a name that needs an escape in JSON
            return False
        return True

    def _build(self) -> None:
        places = [f"other_field_{at}_" for at in range(len(self._names))]
        other = [
            (
                place,
                Any if name in self._keys else msgspec.Raw,
                msgspec.field(name=name, default=None),
            )
            for place, name in zip(places, self._names, strict=True)
        ]
        kind: Any = self._kind
        learnt: Any = msgspec.defstruct(
            kind.__name__, other, bases=(kind,), forbid_unknown_fields=True, gc=False
        )
        self.decode = msgspec.json.Decoder(learnt).decode
        self._paths = ["" if name in self._keys else f"{self._path}{name}" for name in self._names]
        self._unused = [path for path in self._paths if path]
        self.values = _getter(places)


def _getter(places: list[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what reads attributes as a tuple."""
    if not places:
        return None
    if len(places) == 1:
        one = attrgetter(places[0])
        return lambda record: (one(record),)
    return attrgetter(*places)
