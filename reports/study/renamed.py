"""Keys and values of studies that had other names in earlier versions: both may be written."""

from __future__ import annotations

from typing import Any

_KEYS = {"cache.evicts": "cache.cut"}
_VALUES = {"cache.cut": {"run": "span"}}
_GRID = "grid."


def current_key(key: str) -> str:
    """Return what a key, of the grid or not, is called now."""
    plain = key.removeprefix(_GRID)
    return key.removesuffix(plain) + _KEYS.get(plain, plain)


def current_value(key: str, value: Any) -> Any:
    """Return what a value, or each of a list of the grid, is called now; `key` is a current one."""
    names = _VALUES.get(key.removeprefix(_GRID))
    if names is None:
        return value
    if isinstance(value, list):
        return [current_value(key, each) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def former(key: str, value: str) -> str:
    """Return what a value was called before."""
    names = {now: before for before, now in _VALUES[key].items()}
    return names.get(value, value)
