"""Decides at import whether compiled modules run: all, or none if any is outdated or missing.

`make fast`, or building a wheel with MILEPOST_COMPILE=1, puts modules compiled by mypyc beside
their source files, and a stamp file with the checksum of each source. Python prefers compiled
modules. They depend on each other's memory layout, so compiled and plain ones cannot be mixed.
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
LIBRARY = "milepost__mypyc.py"  # the shared library of all compiled modules; it has no source
MEND = "`make fast` compiles anew, `make slow` removes what is compiled"


class FromSource:
    """An import finder that loads the source of modules which also exist compiled.

    Parameters
    ----------
    root
        The folder that contains the packages.
    sources
        Paths of the modules, relative to `root`.
    """

    def __init__(self, root: Path, sources: Sequence[str]) -> None:
        self._sources = {
            source.removesuffix(".py").replace("/", "."): root / source for source in sources
        }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the import spec of a module's source, or None for modules not in `sources`."""
        source = self._sources.get(fullname)
        return None if source is None else spec_from_file_location(fullname, source)


def settle(root: Path) -> str:
    """Disable compiled modules that must not run; return a description of what runs, and why."""
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
    """Return the CRC-32 of a source file in hexadecimal; 00000000 if there is no file."""
    return f"{zlib.crc32(source.read_bytes()) if source.exists() else 0:08x}"


def _problem(root: Path, suffix: str, checksums: dict[str, str]) -> str | None:
    """Return why the compiled modules must not run, or None if they may."""
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
    """Name the first source file, and count the others."""
    return sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"


STATE = settle(Path(__file__).parents[2])
