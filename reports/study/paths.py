"""Paths in settings: which of them name files, and where in their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Place = Callable[[str], Path]

_PROFILE_FILE = re.compile(r"(?P<file>.+?\.json)(?P<options>(:[^/\\]*)?)", re.DOTALL)
_PATH_PARAMETER = re.compile(r"(?<=[:,]path=)[^,]+")


def placed(key: str, value: Any, place: Place) -> Any:
    """Return the value of a key, of the grid or not, with paths as `place` puts them."""
    key = key.removeprefix("grid.")
    if isinstance(value, list):
        return [placed(key, each, place) for each in value]
    if key == "workload" and isinstance(value, dict):  # one of the grid
        return {name: placed(f"workload.{name}", each, place) for name, each in value.items()}
    replace = _REPLACE.get(key)
    return replace(value, place) if replace and value and isinstance(value, str) else value


def _parameter(spec: str, place: Place) -> str:
    """Replace FILE in "name:path=FILE,..."."""
    return _PATH_PARAMETER.sub(lambda match: str(place(match[0].strip())), spec)


def _profile(spec: str, place: Place) -> str:
    """Replace FILE.json in "FILE.json:key=value,..."; a name stays as it is."""
    match = _PROFILE_FILE.fullmatch(spec)
    return f"{place(match['file'])}{match['options']}" if match else spec


def _text_file(spec: str, place: Place) -> str:
    """Replace FILE in "FILE" or "FILE:key=value,...", where it is there; it may be a name too."""
    if "\0" in spec:
        return spec
    for file, behind in ((spec, ""), (spec.rpartition(":")[0], f":{spec.rpartition(':')[2]}")):
        if file and place(file).exists():
            return f"{place(file)}{behind}"
    return spec


_REPLACE: dict[str, Callable[[str, Place], str]] = {
    "workload.trace": lambda value, place: str(place(value)),
    "workload.tokenizer": _text_file,
    "workload.template": _text_file,
    "arrivals.process": _parameter,
    "model.profile": _profile,
}
