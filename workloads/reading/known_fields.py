"""The fields that a record type declares, including those of nested records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(slots=True)
class Known:
    """The names of the fields of one or several structs that may occur in one place."""

    kinds: tuple[type[msgspec.Struct], ...]
    names: frozenset[str]
    types: dict[str, list[Any]] = field(default_factory=dict)  # by name, as msgspec describes them
    below: dict[str, Known | None] = field(default_factory=dict)

    @classmethod
    def nothing(cls) -> Known:
        """Return the description of an object that has no declared fields."""
        return cls((), frozenset())

    def nested(self, name: str) -> Known | None:
        """Return the fields of the records in a field, None if it holds no records."""
        if name not in self.below:
            kinds = tuple(kind for each in self.types.get(name, []) for kind in _structs(each))
            self.below[name] = _known(kinds) if kinds else None
        return self.below[name]


def known_fields(kind: Any) -> Known | None:
    """Return the declared fields of a struct or a list of structs, None for other types."""
    kinds = tuple(_structs(msgspec.inspect.type_info(kind)))
    return _known(kinds) if kinds else None


def _known(kinds: tuple[msgspec.inspect.StructType, ...]) -> Known:
    types: dict[str, list[Any]] = {}
    for kind in kinds:
        for declared in kind.fields:
            types.setdefault(declared.encode_name, []).append(declared.type)
    tags = {kind.tag_field for kind in kinds if kind.tag_field is not None}
    return Known(tuple(kind.cls for kind in kinds), frozenset({*types, *tags}), types)


def _structs(kind: msgspec.inspect.Type) -> Iterator[msgspec.inspect.StructType]:
    """Yield the structs in a type: itself, members of a union, or elements of a list."""
    if isinstance(kind, msgspec.inspect.StructType):
        if not kind.array_like:
            yield kind
    elif isinstance(kind, msgspec.inspect.UnionType):
        for each in kind.types:
            yield from _structs(each)
    elif isinstance(kind, msgspec.inspect.TupleType):
        for each in kind.item_types:
            yield from _structs(each)
    elif isinstance(kind, msgspec.inspect.CollectionType):
        yield from _structs(kind.item_type)
    elif isinstance(kind, msgspec.inspect.Metadata):
        yield from _structs(kind.type)
