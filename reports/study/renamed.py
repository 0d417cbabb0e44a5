"""Keys and values of studies that had other names in earlier versions: both may be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = {"cache.evicts": "cache.cut"}
_VALUES = {"cache.cut": {"run": "span"}}
_THEN = {"cache.pools": "unified", "cache.count_running": False}  # what all had before
_PLACES = ("study.", "grid.")  # of keys in a manifest, and of the grid in a study


def current_key(key: str) -> str:
    """Return the current name of a key, of the grid or not."""
    place, name = _split(key)
    return place + _KEYS.get(name, name)


def current_value(key: str, value: Any) -> Any:
    """Return the current name of a value, or of each in a grid's list; `key` is a current key."""
    names = _VALUES.get(_split(key)[1])
    if names is None:
        return value
    if isinstance(value, list):
        return [current_value(key, each) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def current(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings, or a row of a table with them, as a folder of now would have them."""
    renamed = {(now := current_key(key)): current_value(now, v) for key, v in settings.items()}
    for place in {_split(key)[0] for key in settings.keys() - renamed.keys()} - {"grid."}:
        renamed = {place + key: value for key, value in _THEN.items()} | renamed
    return renamed


def former(key: str, value: str) -> str:
    """Return the former name of a value."""
    names = {now: before for before, now in _VALUES[key].items()}
    return names.get(value, value)


def _split(key: str) -> tuple[str, str]:
    place = next((place for place in _PLACES if key.startswith(place)), "")
    return place, key.removeprefix(place)
