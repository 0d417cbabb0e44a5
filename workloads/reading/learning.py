"""Record types that are extended by undeclared fields seen in a file, to find these quickly.

As long as a file has only declared fields, it is read by a variant of the record's type that
refuses others. Once it has others, each record is also decoded as a *probe*: a type that declares,
for each place of a record, the fields seen so far, with raw bytes as values. The probe fails where
a field is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import attrgetter, or_
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import msgspec

from workloads.reading.places import NULL, Met, Place

MOST_LEARNT = 64  # undeclared fields, including those of nested records

_SEQUENCES = (list, tuple, set, frozenset)

Line = TypeVar("Line")


class Learning(Generic[Line]):
    """Decoder of records of one type that also finds undeclared fields seen before."""

    def __init__(self, kind: type[Line], top: Place) -> None:
        self._kind = kind
        self._plain = msgspec.json.Decoder(kind).decode
        self.top = top
        self._learnt = 0
        self._build()

    def decode(self, text: bytes | msgspec.Raw, met: Met) -> Line:
        """Return a record, and collect its undeclared fields in `met`.

        Raises
        ------
        msgspec.ValidationError
            For an undeclared field that is new, or a field that is wrong.
        """
        record = self._decode(text)
        for depth, plan in self._plans:
            plan.tell_within(record, depth, met.paths, met.key)
        return self._plain(text) if self._learnt else record

    def learn(self, met: Met) -> bool:
        """Extend the types by the undeclared fields of a record; return whether this worked."""
        new = sum(place.learn(names) for place, names in met.other)
        self._learnt += new
        if met.loose or not new or self._learnt > MOST_LEARNT:
            return False
        try:
            self._build()
        except (TypeError, ValueError):  # msgspec refuses names that need escapes in JSON
            return False
        return True

    def _build(self) -> None:
        variants = _Variants(probing=self._learnt > 0)
        kind: Any = variants.of(self._kind, self.top)
        self._decode: Callable[[bytes | msgspec.Raw], Any] = msgspec.json.Decoder(kind).decode
        plans = [(depth, variants.plans.get(id(at))) for depth, at in _levels(self.top)]
        self._plans = [(depth, plan) for depth, plan in plans if plan and plan.settle()]


class LookupPlan:
    """Attributes of the records in one place, and below, to check for undeclared fields.

    Parameters
    ----------
    place
        The place of the records.
    attributes
        The attribute of each field, by the field's name.
    """

    __slots__ = ("_keys", "_later", "_paths", "_unused", "below")

    def __init__(self, place: Place, attributes: dict[str, str]) -> None:
        self.below: list[tuple[str, int, LookupPlan]] = []  # attribute, depth in lists, plan
        unused = [name for name in place.learnt if not place.is_key(name)]
        keys = [name for name in attributes if place.is_key(name)]
        self._paths = [place.named(name) for name in unused]
        self._unused = _getter([attributes[name] for name in unused])
        self._keys = [(name, attributes[name]) for name in keys]
        self._later = place.later

    def settle(self) -> bool:
        """Drop plans below that have nothing to check; return whether anything is left to check."""
        self.below = [entry for entry in self.below if entry[2].settle()]
        return bool(self.below or self._paths or self._keys)

    def tell(self, record: Any, paths: list[str], key: dict[str, Any]) -> None:
        """Add the paths of a record's undeclared fields to `paths`, and isolation keys to `key`."""
        if self._unused is not None:
            values = self._unused(record)
            if NULL not in values:
                paths += self._paths
            else:
                there = zip(self._paths, values, strict=True)
                paths += [path for path, raw in there if raw != NULL]
        for name, attribute in self._keys:
            value = getattr(record, attribute, None)
            if value is not None and not (self._later and name in key):
                key[name] = value
        for attribute, depth, plan in self.below:
            value = getattr(record, attribute, None)
            if value is not None:
                plan.tell_within(value, depth, paths, key)

    def tell_within(self, value: Any, depth: int, paths: list[str], key: dict[str, Any]) -> None:
        """Apply `tell` to a record, or to the records in lists nested `depth` deep."""
        if not depth:
            if isinstance(value, msgspec.Struct):
                self.tell(value, paths, key)
        elif isinstance(value, _SEQUENCES):
            for item in value:
                self.tell_within(item, depth - 1, paths, key)


@dataclass(slots=True)
class _Variants:
    """Factory of types that detect undeclared fields, and of plans to look for known ones."""

    probing: bool
    plans: dict[int, LookupPlan] = field(default_factory=dict)  # by place

    def of(self, kind: Any, place: Place) -> Any:
        """Return a type in which each struct is replaced by its variant."""
        if isinstance(kind, msgspec.StructMeta):
            return kind if kind.__struct_config__.array_like else self._struct(kind, place)
        origin = get_origin(kind)
        if origin is Annotated:
            return Annotated[(self.of(get_args(kind)[0], place), *kind.__metadata__)]
        if origin in {Union, UnionType}:
            return reduce(or_, (self.of(each, place) for each in get_args(kind)))
        if origin in _SEQUENCES:
            return origin[tuple(self.of(each, place.each()) for each in get_args(kind))]
        return kind

    def _struct(self, kind: Any, place: Place) -> Any:
        """Return the variant of a struct, and add a plan for what to look for in its records."""
        attributes = {}
        below = []
        fields: list[tuple[str, Any, Any]] = []
        for declared in _fields(kind):
            name = declared.encode_name
            attributes[name] = declared.name
            known = place.goes_on(name)
            nested = known is not None and place.under(name, known)
            if nested:
                below += [(declared.name, depth, at) for depth, at in _levels(nested)]
            if self.probing:
                value = self.of(declared.type, nested) if nested else _raw(place, name)
                fields.append((declared.name, value, msgspec.field(name=name, default=None)))
            elif nested:
                fields.append((declared.name, self.of(declared.type, nested), _as(declared)))
        for at, name in enumerate(place.learnt):
            attributes[name] = f"other_field_{at}_"
            absent = msgspec.field(name=name, default=None if place.is_key(name) else NULL)
            fields.append((attributes[name], _raw(place, name), absent))
        plan = self.plans.setdefault(id(place), LookupPlan(place, attributes))
        known_plans = ((name, depth, self.plans.get(id(at))) for name, depth, at in below)
        plan.below += [(name, depth, at) for name, depth, at in known_plans if at is not None]
        config = kind.__struct_config__
        return msgspec.defstruct(
            kind.__name__,
            fields,
            bases=None if self.probing else (kind,),
            forbid_unknown_fields=True,
            kw_only=True,
            tag=config.tag,
            tag_field=config.tag_field,
            gc=False,
        )


def _levels(place: Place) -> list[tuple[int, Place]]:
    """Return a place, and those in lists and in nested lists there, each with its depth."""
    inner = place.each()
    return [(0, place), (1, inner), (2, inner.each())]


def _raw(place: Place, name: str) -> Any:
    """Return the type of a probe's field: any value for isolation keys, else raw bytes."""
    return Any if place.is_key(name) else msgspec.Raw


@lru_cache(maxsize=256)
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a struct, cached since reading annotations is slow."""
    return msgspec.structs.fields(kind)


def _as(declared: msgspec.structs.FieldInfo) -> Any:
    """Return a declaration of a field with the same name and default, for another struct."""
    if declared.default is not msgspec.NODEFAULT:
        return msgspec.field(name=declared.encode_name, default=declared.default)
    if declared.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(name=declared.encode_name, default_factory=declared.default_factory)
    return msgspec.field(name=declared.encode_name)


def _getter(attributes: Sequence[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return a function that reads these attributes as a tuple, None if there are none."""
    if not attributes:
        return None
    if len(attributes) == 1:
        one = attrgetter(attributes[0])
        return lambda record: (one(record),)
    return attrgetter(*attributes)
