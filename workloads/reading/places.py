"""Places of objects in a JSON record, and their undeclared fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from workloads.prefixes.key_fields import place_of
from workloads.reading.known_fields import Known

MOST_SHAPES = 4096  # lists of names in an object whose shape is cached
MOST_LEVELS = 6
NULL = msgspec.Raw(b"null")  # a null field counts as absent

# Objects that hold a request or its extra parameters; isolation keys count in them too.
CONTAINERS = frozenset({"body", "request", "event", "params", "extra_body", "nvext", "payload"})
_LATER = frozenset({"response"})  # its model counts where the request has none

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Place:
    """A place of objects in a record (a path such as `body.messages[]`), and their known fields."""

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
        self.learnt: list[str] = []  # undeclared fields seen so far
        self.holds_key = holds_key
        self.later = later  # whether a key of the request takes precedence
        self.level = level

    def shape(self, names: dict[str, msgspec.Raw]) -> Shape:
        """Return the shape of objects with these names: what to do with each field (cached)."""
        order = tuple(names)
        shape = self._shapes.get(order)
        if shape is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[order] = Shape(self, order)
        return shape

    def goes_on(self, name: str) -> Known | None:
        """Return the declared fields of the objects in a field, None if they are not examined."""
        if self.level >= MOST_LEVELS:
            return None
        known = self._known.nested(name)
        if known is None and self.holds_key and name in CONTAINERS and not self.knows(name):
            return Known.nothing()
        return known

    @property
    def unknown(self) -> bool:
        """Whether no struct describes the objects here."""
        return not self._known.kinds

    def knows(self, name: str) -> bool:
        """Return whether the record declares a field."""
        return name in self._known.names

    def is_key(self, name: str) -> bool:
        """Return whether a field belongs to the isolation key; declared media do not."""
        place = place_of(name) if self.holds_key else None
        return place is not None and not (place[0] == "media" and self.knows(name))

    def learn(self, names: list[str]) -> int:
        """Keep undeclared fields; return how many of them are new."""
        new = [name for name in names if name not in self.learnt]
        self.learnt += new
        return len(new)

    def under(self, name: str, known: Known) -> Place:
        """Return the place of the objects in a field."""
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
        """Return the place of the objects in a list at this place."""
        if "[]" not in self.below:
            self.below["[]"] = Place(
                self._known,
                f"{self._path}[]" if self._path else "",
                holds_key=False,
                level=self.level + 1,
            )
        return self.below["[]"]


class Shape:
    """The fields of an object with certain names, grouped by what is done with each."""

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
    """The result of a walk: the paths of unused fields, and the fields of the isolation key."""

    paths: list[str] = field(default_factory=list)
    key: dict[str, Any] = field(default_factory=dict)
    other: list[tuple[Place, list[str]]] = field(
        default_factory=list
    )  # undeclared fields, by place
    loose: bool = False  # whether some are in objects without a struct


def walk(place: Place, text: bytes | msgspec.Raw, met: Met) -> None:
    """Collect in `met` the fields of an object, or of the objects in a list, and nested ones."""
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
