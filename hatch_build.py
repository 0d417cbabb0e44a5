"""Builds Milepost: plain Python, or with the modules of its hot loops compiled by mypyc.

`MILEPOST_COMPILE=1 pip install .` compiles; with `-e` the compiled modules lie beside their source.
The same source gives the same bytes, wherever and whenever it is compiled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zlib
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAMP = "simulator/compiled.txt"  # read by simulator/base/compiled.py


class CompilingHook(BuildHookInterface):
    """Compiles the modules that pyproject.toml names, if MILEPOST_COMPILE is set."""

    def dependencies(self) -> list[str]:
        """Return what compiling needs: the types of all that is imported too."""
        if not os.environ.get("MILEPOST_COMPILE"):
            return []
        return [*self.config["requires"], *self.metadata.core.dependencies]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put what comes out beside its source or into the wheel."""
        if not os.environ.get("MILEPOST_COMPILE"):
            return
        root = Path(self.root)
        modules = matching(root, self.config["modules"], self.config["interpreted"])
        built = self._built = TemporaryDirectory()
        target = root if version == "editable" else Path(built.name, "lib")
        compile_modules(root, modules, Path(built.name), target)
        if version == "editable":
            return
        build_data["infer_tag"] = True
        build_data["pure_python"] = False
        files = sorted(path for path in target.rglob("*") if path.is_file())
        build_data["force_include"] |= {str(file): str(file.relative_to(target)) for file in files}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has taken in."""
        if hasattr(self, "_built"):
            self._built.cleanup()


def matching(root: Path, patterns: list[str], unless: list[str]) -> list[str]:
    """Return the modules that match one of `patterns` and none of `unless`, relative to `root`."""
    found = {path.relative_to(root).as_posix() for name in patterns for path in root.glob(name)}
    return sorted(path for path in found if not any(fnmatch(path, name) for name in unless))


def compile_modules(root: Path, modules: list[str], scratch: Path, target: Path) -> None:
    """Compile `modules` into one library, with a shim each and a stamp, below `target`."""
    command = [sys.executable, "-P", __file__, str(scratch), str(target), *modules]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # sets in one order
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"compiling failed:\n{done.stdout}{done.stderr}")
    digests = (f"{zlib.crc32((root / module).read_bytes()):08x} {module}\n" for module in modules)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    (target / STAMP).parent.mkdir(parents=True, exist_ok=True)
    (target / STAMP).write_text(f"{suffix}\n{''.join(digests)}", encoding="utf-8")


def _build(scratch: Path, target: Path, modules: list[str]) -> None:
    import mypyc
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    # No path of this machine is written into what is compiled.
    for folder in (scratch, Path(mypyc.__file__).parent):
        _add_flag("CFLAGS", f"-ffile-prefix-map={folder}=.")
    _add_flag("LDFLAGS", "-Wl,--strip-all")
    options = ["--cache-dir", os.devnull, *modules]
    generated = str(scratch / "c")
    extensions = mypycify(
        options, opt_level="3", debug_level="0", group_name="milepost", target_dir=generated
    )
    command = build_ext(Distribution({"name": "milepost", "ext_modules": extensions}))
    command.build_lib, command.build_temp = str(target), str(scratch / "objects")
    command.ensure_finalized()
    command.run()


def _add_flag(variable: str, flag: str) -> None:
    os.environ[variable] = f"{os.environ.get(variable, '')} {flag}".strip()


if __name__ == "__main__":
    _build(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
