"""Whether compiled modules run: all of them, or none where one is outdated or missing.

`make fast`, or a wheel built with MILEPOST_COMPILE=1, puts compiled modules beside their source,
with a stamp that names each and the checksum of its source. Python prefers compiled modules. They
know each other's insides, so that no one of them can be left out.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

STAMP = "simulator/compiled.txt"
LIBRARY = "milepost__mypyc.py"  # what all of them share; it has no source
MEND = "`make fast` compiles anew, `make slow` removes what is compiled"


class FromSource:
    """Finds the source of modules beside which compiled ones lie.

    Parameters
    ----------
    root
        The folder of the packages.
    sources
        Paths of the modules from there.
    """

    def __init__(self, root: Path, sources: Sequence[str]) -> None:
        self._sources = {
            source.removesuffix(".py").replace("/", "."): root / source for source in sources
        }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the source of a module is, None where others are to look for it."""
        source = self._sources.get(fullname)
        return None if source is None else spec_from_file_location(fullname, source)


def settle(root: Path) -> str:
    """Turn away compiled modules that must not run; say what runs, and why if all is not well."""
    stamp = root / STAMP
    if not stamp.exists():
        return "plain Python"
    suffix, *lines = stamp.read_text(encoding="utf-8").splitlines()
    checksums = {source: checksum for checksum, source in (line.split(" ", 1) for line in lines)}
    problem = _problem(root, suffix, checksums)
    if problem is None:
        return f"compiled ({len(checksums)} modules)"
    sys.meta_path.insert(0, FromSource(root, [*checksums]))
    return f"plain Python: {problem}"


def checksum_of(source: Path) -> str:
    """Return the checksum of a source; that of nothing where it is not there."""
    return f"{zlib.crc32(source.read_bytes()) if source.exists() else 0:08x}"


def _problem(root: Path, suffix: str, checksums: dict[str, str]) -> str | None:
    if os.environ.get("MILEPOST_PLAIN"):
        return "MILEPOST_PLAIN is set"
    if suffix not in EXTENSION_SUFFIXES:
        return f"what is compiled is for another Python ({suffix}); {MEND}"
    missing = [s for s in (LIBRARY, *checksums) if not (root / s).with_suffix(suffix).exists()]
    if missing:
        return f"of {_named(missing)} there is nothing compiled any more; {MEND}"
    changed = [s for s, checksum in checksums.items() if checksum_of(root / s) != checksum]
    if changed:
        return f"{_named(changed)} changed after compiling; {MEND}"
    return None


def _named(sources: list[str]) -> str:
    return sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"


STATE = settle(Path(__file__).parents[2])
