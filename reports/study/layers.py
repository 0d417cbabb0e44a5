"""A study file read into settings, with flags and `--set` laid over it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from reports.study.lines import lines_of
from reports.study.own_trace import with_own_trace
from reports.study.renamed import current_key
from reports.study.settings import (
    Settings,
    flatten,
    replace_path,
    replace_profile_path,
    replace_text_file,
)
from simulator.base.errors import UsageError, printable

FILE_LIMIT_BYTES = 1 << 20
_PATHS = (
    "workload.trace",
    "workload.tokenizer",
    "workload.template",
    "grid.workload.template",
    "grid.workload.trace",
    "grid.workload",
    "model.profile",
    "grid.model.profile",
    "arrivals.process",
    "grid.arrivals.process",
)


def read_settings(path: Path | None, overrides: Iterable[tuple[str, Any, str]] = ()) -> Settings:
    """Read a study file and lay the overrides (key, value, origin) over it.

    Paths in the file are relative to it, those in overrides to the working directory. A trace
    among the overrides comes in the place of the study's own workload.

    Raises
    ------
    UsageError
        When the file cannot be read or is not TOML.
    """
    settings = Settings({}, {})
    if path is not None:
        name = printable(str(path))
        text = _read_text(path)
        for key, value in flatten(_toml(name, text)):
            settings = settings.with_value(key, _beside(path.parent, key, value), name)
        lines = {current_key(key): line for key, line in lines_of(text).items()}
        settings = replace(settings, lines=lines)
    own = settings
    over = list(overrides)
    for key, value, origin in over:
        settings = settings.with_value(key, value, origin)
    return with_own_trace(own, settings, {key for key, _, _ in over})


def parse_override(text: str) -> tuple[str, Any, str]:
    """Parse `a.b=c`: the value is TOML where it can be, a string otherwise.

    Raises
    ------
    UsageError
        When there is no key or no `=`.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set {printable(text)}: expected key=value, as in cache.capacity=8GiB")
    return key.strip().replace('"', ""), _parse_value(value.strip()), "--set"


def _read_text(path: Path) -> str:
    name = printable(str(path))
    try:
        if path.exists() and not path.is_file():  # a pipe would never end
            raise UsageError(f"{name}: expected a study file, found no regular file")
        with path.open("rb") as file:
            raw = file.read(FILE_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from error
    if len(raw) > FILE_LIMIT_BYTES:
        raise UsageError(f"{name}: a study file is at most {FILE_LIMIT_BYTES >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not a study file: not UTF-8 text") from error


def _toml(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: not TOML: {printable(str(error))}") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise UsageError(f"{name}: not a study file: a number has thousands of digits") from error


def _beside(folder: Path, key: str, value: Any) -> Any:
    """Resolve a path of the study file against its folder."""
    if key not in _PATHS or not value:
        return value
    if isinstance(value, dict):  # a workload of the grid
        return {name: _beside(folder, f"workload.{name}", item) for name, item in value.items()}
    if isinstance(value, list):
        return [_beside(folder, key, item) for item in value]
    placed = _PLACED.get(key.rpartition(".")[2])
    if placed is None or not isinstance(value, str):
        return value
    return placed(value, lambda path: folder / path)


_PLACED: dict[str, Callable[[str, Callable[[str], Path]], Any]] = {
    "trace": lambda value, place: str(place(value)),
    "process": lambda value, place: replace_path(value, lambda path: str(place(path))),
    "profile": replace_profile_path,
    "tokenizer": replace_text_file,
    "template": replace_text_file,
}


def _parse_value(text: str) -> Any:
    if "\n" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or thousands of digits
        return text
