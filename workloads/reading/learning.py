"""Record types that learn which other fields a file has, so that one pass reads them too.

Each struct gets a variant that refuses unknown fields and declares those that were seen so far:
decoding then tells which of them an object has, and fails where there is a new one. Variants
depend on where a struct stands, as the fields beside it may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import attrgetter, or_
from types import UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from workloads.reading.places import NULL, Met, Place

MOST_LEARNT = 64  # other fields of a record, those of records within included

Line = TypeVar("Line")


class Learning(Generic[Line]):
    """Decodes records of one kind together with the other fields that were learnt."""

    def __init__(self, kind: type[Line], top: Place) -> None:
        self._kind = kind
        self.top = top
        self._learnt = 0
        self._build()

    def learn(self, met: Met) -> bool:
        """Declare the other fields of a record; say whether that can be done."""
        new = sum(place.learn(names) for place, names in met.other)
        self._learnt += new
        if met.loose or not new or self._learnt > MOST_LEARNT:
            return False
        try:
            self._build()
        except (TypeError, ValueError):  # a name that needs an escape in JSON
            return False
        return True

    def _build(self) -> None:
        plans: dict[int, Plan] = {}
        variant: Any = _variant(self._kind, self.top, plans)
        self.decode: Callable[[bytes | msgspec.Raw], Line] = msgspec.json.Decoder(variant).decode
        plan = plans.get(id(self.top)) or plans[id(self.top.each())]
        self.plan = plan if plan.settle() else None


class Plan:
    """Where to look in the records of one place for what was learnt.

    Parameters
    ----------
    place
        Of the records.
    attributes
        By name of a field, its attribute.
    """

    __slots__ = ("_keys", "_later", "_paths", "_unused", "below")

    def __init__(self, place: Place, attributes: dict[str, str]) -> None:
        self.below: list[tuple[str, Plan]] = []
        unused = [name for name in place.learnt if not place.is_key(name)]
        keys = [name for name in attributes if place.is_key(name)]
        self._paths = [place.named(name) for name in unused]
        self._unused = _getter([attributes[name] for name in unused])
        self._keys = [(name, attributes[name]) for name in keys]
        self._later = place.later

    def settle(self) -> bool:
        """Leave out what needs no look; say whether anything is left."""
        self.below = [(name, plan) for name, plan in self.below if plan.settle()]
        return bool(self.below or self._paths or self._keys)

    def tell(self, record: Any, paths: list[str], key: dict[str, Any]) -> None:
        """Add the paths of other fields of a record and of those within, and those of a key."""
        if self._unused is not None:
            values = self._unused(record)
            if None not in values and NULL not in values:
                paths += self._paths
            else:
                there = zip(self._paths, values, strict=True)
                paths += [path for path, raw in there if raw is not None and raw != NULL]
        for name, attribute in self._keys:
            value = getattr(record, attribute, None)
            if value is not None and not (self._later and name in key):
                key[name] = value
        for attribute, plan in self.below:
            value = getattr(record, attribute, None)
            if value is None:
                continue
            if type(value) is list:
                for item in value:
                    if isinstance(item, msgspec.Struct):
                        plan.tell(item, paths, key)
            elif isinstance(value, msgspec.Struct):
                plan.tell(value, paths, key)


def _variant(kind: Any, place: Place, plans: dict[int, Plan]) -> Any:
    """Return a type with variants in place of the structs in it."""
    if isinstance(kind, msgspec.StructMeta):
        return _struct(kind, place, plans)
    origin = get_origin(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return Annotated[(_variant(get_args(kind)[0], place, plans), *kind.__metadata__)]
    inner = place if origin in {Union, UnionType} else place.each()
    args = tuple(_variant(each, inner, plans) for each in get_args(kind))
    return reduce(or_, args) if inner is place else origin[args]


def _struct(kind: Any, place: Place, plans: dict[int, Plan]) -> Any:
    """Return the variant of a struct, and plan where to look in its records."""
    info = kind.__struct_config__
    if info.array_like:
        return kind
    fields: list[tuple[str, Any, Any]] = []
    attributes = {}
    below = []
    for declared in _fields(kind):
        name = declared.encode_name
        attributes[name] = declared.name
        known = place.goes_on(name)
        if known is not None:
            inner = place.under(name, known)
            fields.append((declared.name, _variant(declared.type, inner, plans), _as(declared)))
            below += [(declared.name, inner), (declared.name, inner.each())]
    for at, name in enumerate(place.learnt):
        attributes[name] = f"other_field_{at}_"
        other = Any if place.is_key(name) else msgspec.Raw
        fields.append((attributes[name], other, msgspec.field(name=name, default=None)))
    plan = plans.setdefault(id(place), Plan(place, attributes))
    plan.below += [(name, plans[id(inner)]) for name, inner in below if id(inner) in plans]
    return msgspec.defstruct(
        kind.__name__,
        fields,
        bases=(kind,),
        forbid_unknown_fields=True,
        kw_only=True,
        tag=info.tag,
        tag_field=info.tag_field,
        gc=False,
    )


@lru_cache(maxsize=256)
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a struct, whose annotations take long to read."""
    return msgspec.structs.fields(kind)


def _as(declared: msgspec.structs.FieldInfo) -> Any:
    """Return how a field is declared again."""
    if declared.default is not msgspec.NODEFAULT:
        return msgspec.field(name=declared.encode_name, default=declared.default)
    if declared.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(name=declared.encode_name, default_factory=declared.default_factory)
    return msgspec.field(name=declared.encode_name)


def _getter(attributes: Sequence[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what reads attributes as a tuple."""
    if not attributes:
        return None
    if len(attributes) == 1:
        one = attrgetter(attributes[0])
        return lambda record: (one(record),)
    return attrgetter(*attributes)
