"""Readers of settings: a study file, overridden by flags and `--set`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from reports.study.joint_policy import with_each_kind, without_replaced_policies
from reports.study.lines import lines_of
from reports.study.own_trace import with_own_trace
from reports.study.paths import placed
from reports.study.renamed import current_key
from reports.study.settings import Settings, flatten
from reports.study.workload_grid import without_replaced
from simulator.base.errors import UsageError, printable

FILE_LIMIT_BYTES = 1 << 20


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
            settings = settings.with_value(key, placed(key, value, path.parent.joinpath), name)
        lines = {current_key(key): line for key, line in lines_of(text).items()}
        settings = replace(settings, lines=lines)
    return laid_over(settings, overrides)


def laid_over(own: Settings, overrides: Iterable[tuple[str, Any, str]]) -> Settings:
    """Return settings with overrides (key, value, origin) applied.

    Raises
    ------
    UsageError
        Where one source sets a setting under two names, or there is no such `policy.all`.
    """
    settings, keys = own, set()
    for key, value, origin in overrides:
        settings = settings.with_value(key, value, origin)
        keys.add(key)
    settings = _pinned(with_own_trace(own, settings, keys))
    return with_each_kind(without_replaced_policies(settings, keys))


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


def _pinned(settings: Settings) -> Settings:
    """Let a flag that sets a key of the grid replace that key's list, and the other way round."""
    settings = without_replaced(settings)
    values = dict(settings.values)
    for key in settings.values:
        varied = f"grid.{key}"
        if varied in values and settings.origin(key) != settings.origin(varied):
            del values[varied if settings.origin(key).startswith("--") else key]
    return replace(settings, values=values)


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


def _parse_value(text: str) -> Any:
    if "\n" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or thousands of digits
        return text
