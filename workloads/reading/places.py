"""Places of objects in a JSON record, and the fields of them that nobody reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from workloads.prefixes.key_fields import place_of
from workloads.reading.known_fields import Known

MOST_SHAPES = 4096  # orders of names in an object, whose meaning is remembered
MOST_LEVELS = 6
NULL = msgspec.Raw(b"null")  # a field that is null is not there

# Objects that hold a request, or what a client adds to one: a key stands in them as on the line.
CONTAINERS = frozenset({"body", "request", "event", "params", "extra_body", "nvext", "payload"})
_LATER = frozenset({"response"})  # tells a model where the request does not

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Place:
    """The places of objects in a file, and what is known of their fields."""

    __slots__ = ("_known", "_path", "_shapes", "below", "holds_key", "later", "learnt", "level")

    def __init__(
        self,
        known: Known,
        path: str,
        *,
        holds_key: bool,
        level: int = 0,
        later: bool = False,
    ) -> None:
        self._known = known
        self._path = path
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self.below: dict[str, Place] = {}
        self.learnt: list[str] = []  # fields that no record declares, as they came up
        self.holds_key = holds_key
        self.later = later  # a key found here gives way to one of the request
        self.level = level

    def shape(self, names: dict[str, msgspec.Raw]) -> Shape:
        """Return what objects with these names mean."""
        order = tuple(names)
        shape = self._shapes.get(order)
        if shape is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[order] = Shape(self, order)
        return shape

    def goes_on(self, name: str) -> Known | None:
        """Return what is known of the objects under a name; None where they are not looked at."""
        if self.level >= MOST_LEVELS:
            return None
        known = self._known.nested(name)
        if known is None and self.holds_key and name in CONTAINERS and not self.knows(name):
            return Known.nothing()
        return known

    @property
    def unknown(self) -> bool:
        """Whether no record declares what stands here."""
        return not self._known.kinds

    def knows(self, name: str) -> bool:
        """Say whether the record declares a field."""
        return name in self._known.names

    def is_key(self, name: str) -> bool:
        """Say whether a field belongs to a key; records that declare media know where they are."""
        place = place_of(name) if self.holds_key else None
        return place is not None and not (place[0] == "media" and self.knows(name))

    def learn(self, names: list[str]) -> int:
        """Keep fields that no record declares; return how many are new."""
        new = [name for name in names if name not in self.learnt]
        self.learnt += new
        return len(new)

    def under(self, name: str, known: Known) -> Place:
        """Return the place of the objects under a name."""
        if name not in self.below:
            holds = self.holds_key and (name in CONTAINERS or name in _LATER)
            later = self.later or name in _LATER
            self.below[name] = Place(
                known, self.named(name), holds_key=holds, level=self.level + 1, later=later
            )
        return self.below[name]

    def named(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self._path}.{name}" if self._path else name

    def each(self) -> Place:
        """Return the place of the objects in a list that stands here."""
        if "[]" not in self.below:
            self.below["[]"] = Place(
                self._known,
                f"{self._path}[]" if self._path else "",
                holds_key=False,
                level=self.level + 1,
            )
        return self.below["[]"]


class Shape:
    """The contents of an object with certain names."""

    __slots__ = ("key", "nested", "other", "unused")

    def __init__(self, place: Place, names: tuple[str, ...]) -> None:
        self.key = [name for name in names if place.is_key(name)]
        self.nested: list[tuple[str, Place]] = []
        self.unused: list[tuple[str, str]] = []
        for name in names:
            known = place.goes_on(name)
            if known is not None:
                self.nested.append((name, place.under(name, known)))
            elif name not in self.key and not place.knows(name):
                self.unused.append((name, place.named(name)))
        declared = [name for name in self.key if not place.knows(name)]
        self.other = [name for name, _ in self.unused] + declared


@dataclass(slots=True)
class Met:
    """The finds of a walk: the paths of unused fields, and the fields that belong to a key."""

    paths: list[str] = field(default_factory=list)
    key: dict[str, Any] = field(default_factory=dict)
    other: list[tuple[Place, list[str]]] = field(default_factory=list)  # not declared, by place
    loose: bool = False  # whether some stand in objects that no record declares


def walk(place: Place, text: bytes | msgspec.Raw, met: Met) -> None:
    """Meet the fields of an object, or of those in a list, and of those within."""
    first = bytes(memoryview(text)[:1])
    if first == b"[":
        for item in _list(text):
            walk(place.each(), item, met)
    elif first == b"{":
        names = _object(text)
        shape = place.shape(names)
        met.paths += [path for name, path in shape.unused if names[name] != NULL]
        if shape.other:
            met.other.append((place, shape.other))
        for name in shape.key:
            if not (place.later and name in met.key):
                met.key[name] = names[name]
        for name, below in shape.nested:
            raw = names[name]
            if below.unknown and bytes(memoryview(raw)[:1]) != b"{":
                met.paths += [place.named(name)] if raw != NULL else []
                met.other.append((place, [name]))
            else:
                met.loose |= below.unknown
                walk(below, raw, met)
