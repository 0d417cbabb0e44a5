"""Settings by dotted key, each with where it came from: a study file, then flags, then `--set`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from reports.study.renamed import current_key, current_value
from simulator.base.errors import SettingError, UsageError, printable
from simulator.base.files import escaped_quoted


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a study as requested, with their origins.

    Parameters
    ----------
    values
        Dotted key -> value, as written.
    origins
        Dotted key -> the file or flag that set it.
    notes
        Which parts of the study are not used, and why.
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
        """Return an error about a key, naming the file or flag that set it, and its line."""
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
        if key not in self.values or first == written or current_key(first) != key:
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


def to_toml(tables: Mapping[str, Any]) -> str:
    """Return TOML text of plain values and of one level of tables, in the order given."""
    lines = [f"{key} = {_toml_value(v)}" for key, v in tables.items() if not isinstance(v, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"] if lines else [f"[{name}]"]
            lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items()]
    return escaped_quoted("\n".join(lines)) + "\n"


def flatten(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted key and value of nested tables; an empty table is a value."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


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
