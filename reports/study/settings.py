"""Settings by dotted key, each with where it came from: a study file, then flags, then `--set`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports.study.lines import lines_of
from reports.study.own_trace import with_own_trace
from reports.study.renamed import current_key, current_value
from simulator.base.errors import SettingError, UsageError, printable
from simulator.base.files import escaped_quoted

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
_PROFILE_FILE = re.compile(r"(?P<file>.+?\.json)(?P<options>(:[^/\\]*)?)", re.DOTALL)
_PATH_PARAMETER = re.compile(r"(?<=[:,]path=)[^,]+")


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for.

    Parameters
    ----------
    values
        Dotted key -> value, as written.
    origins
        Dotted key -> the file or flag that set it.
    notes
        What of the study is not used, and why, for whoever asked.
    lines
        Dotted key -> line of the study file.
    spelled
        Dotted key -> the same as it was written, by a name of earlier versions.
    """

    values: dict[str, Any]
    origins: dict[str, str]
    notes: tuple[str, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    spelled: Mapping[str, str] = field(default_factory=dict)

    def origin(self, key: str) -> str:
        """Return the file or flag that set `key` (or a key below it)."""
        if key in self.origins:
            return self.origins[key]
        below = (name for name in self.origins if name.startswith(f"{key}."))
        return self.origins.get(next(below, ""), "study")

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the file or flag that set it before what is wrong with a setting."""
        try:
            yield
        except SettingError as error:
            written = self._written(error.name)
            if written is None:
                raise
            raise self.problem(written, f": {error.problem}") from error

    def problem(self, key: str, problem: str) -> UsageError:
        """Return what is wrong with a key, with the file or flag that set it, and its line."""
        written = printable(self._as_written(key))
        return UsageError(f"{self.origin(key)}: '{written}'{problem}{self.line(key)}")

    def _written(self, key: str) -> str | None:
        """Return the key by which something was set or is varied; None where it was not."""
        keys = (key, f"grid.{key}", f"grid.{key.partition('.')[0]}")
        return next((each for each in keys if each in self.values), None)

    def _as_written(self, key: str) -> str:
        """Return a key by the name under which it was set or is varied."""
        varied = f"grid.{key}"
        if self.origin(key).endswith("[grid]"):
            return self.spelled.get(varied, varied).removeprefix("grid.")
        return self.spelled.get(key, key)

    def with_value(self, key: str, value: Any, origin: str) -> Settings:
        """Return the settings with one of them replaced, under the name that it has now.

        Raises
        ------
        UsageError
            When one source sets it under two names.
        """
        key, written = current_key(key), key
        self._refuse_twice(key, written, origin)
        values = {**self.values, key: current_value(key, value)}
        lines = {name: line for name, line in self.lines.items() if name != key}
        spelled = {name: other for name, other in self.spelled.items() if name != key}
        if written != key:
            spelled[key] = written
        origins = {**self.origins, key: origin}
        return replace(self, values=values, origins=origins, lines=lines, spelled=spelled)

    def _refuse_twice(self, key: str, written: str, origin: str) -> None:
        """Refuse a second name of a setting from the study file, or from the command line."""
        first = self.spelled.get(key, key)
        if key not in self.values or first == written:
            return
        before = self.origins[key]
        if before == origin or (before.startswith("--") and origin.startswith("--")):
            names = (printable(name.removeprefix("grid.")) for name in (written, first))
            raise UsageError("{}: '{}' is another name of '{}': set one".format(origin, *names))

    def line(self, key: str) -> str:
        """Return " (line 3)" for a key that the study file set, "" for any other."""
        origin = self.origin(key)
        written = f"grid.{key}" if origin.endswith("[grid]") else key
        if origin.startswith("--") or written not in self.lines:
            return ""
        return f" (line {self.lines[written]})"


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


def to_toml(tables: Mapping[str, Any]) -> str:
    """Return TOML text of plain values and of one level of tables, in the order given."""
    lines = [f"{key} = {_toml_value(v)}" for key, v in tables.items() if not isinstance(v, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"] if lines else [f"[{name}]"]
            lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items()]
    return escaped_quoted("\n".join(lines)) + "\n"


def replace_path(spec: Any, place: Callable[[str], str]) -> Any:
    """Return "name:path=FILE,..." with FILE as `place` puts it; anything else as it is."""
    if not isinstance(spec, str):
        return spec
    return _PATH_PARAMETER.sub(lambda match: place(match[0].strip()), spec)


def replace_profile_path(spec: str, place: Callable[[str], Path]) -> str:
    """Return "FILE.json:key=value,..." with FILE as `place` puts it; a name as it is."""
    match = _PROFILE_FILE.fullmatch(spec)
    return f"{place(match['file'])}{match['options']}" if match else spec


def replace_text_file(spec: Any, place: Callable[[str], Path]) -> Any:
    """Return "FILE" or "FILE:key=value,..." with FILE as `place` puts it, where it is there.

    A tokenizer or a template may be a name too, which stays as it is.
    """
    if not isinstance(spec, str) or "\0" in spec:
        return spec
    for file, behind in ((spec, ""), (spec.rpartition(":")[0], f":{spec.rpartition(':')[2]}")):
        if file and place(file).exists():
            return f"{place(file)}{behind}"
    return spec


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


def flatten(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted key and value of nested tables; an empty table is a value."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


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


def _toml_key(key: str) -> str:
    plain = key.replace("_", "a").replace("-", "a")
    return key if plain.isascii() and plain.isalnum() else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml_key(k)} = {_toml_value(v)}' for k, v in value.items())} }}"
    return f"[{', '.join(map(_toml_value, value))}]"
