"""Build hook of the package: plain Python, or with performance-critical modules compiled by mypyc.

`MILEPOST_COMPILE=1 pip install .` compiles; with `-e`, the compiled modules are put beside their
sources. Builds are reproducible: the same source gives the same bytes.
"""

from __future__ import annotations

import os
import shutil
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
    """A hatch build hook that compiles the listed modules if MILEPOST_COMPILE is set."""

    def dependencies(self) -> list[str]:
        """Return the build dependencies for compiling: mypy, and all imported packages."""
        if not os.environ.get("MILEPOST_COMPILE"):
            return []
        return [*self.config["requires"], *self.metadata.core.dependencies]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the results to the wheel, or beside the sources if editable."""
        if not os.environ.get("MILEPOST_COMPILE"):
            return
        root, self._scratch = Path(self.root), TemporaryDirectory()
        modules = matching(root, self.config["modules"], self.config["interpreted"])
        built = compile_modules(root, modules, Path(self._scratch.name))
        if version == "editable":
            lay_beside_sources(root, built)
            return
        build_data["infer_tag"] = True
        build_data["pure_python"] = False
        build_data["force_include"] |= {str(built[name]): name for name in sorted(built)}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove temporary files."""
        if hasattr(self, "_scratch"):
            self._scratch.cleanup()


def matching(root: Path, patterns: list[str], unless: list[str]) -> list[str]:
    """Return the modules that match one of `patterns` and none of `unless`, relative to `root`."""
    found = {path.relative_to(root).as_posix() for name in patterns for path in root.glob(name)}
    return sorted(path for path in found if not any(fnmatch(path, name) for name in unless))


def compile_modules(root: Path, modules: list[str], scratch: Path) -> dict[str, Path]:
    """Compile modules with mypyc.

    Parameters
    ----------
    root
        The folder of the project.
    modules
        Paths of the modules, relative to `root`.
    scratch
        Folder for temporary files.

    Returns
    -------
    dict
        The built files by their path relative to `root`: a stamp with the checksums of the sources,
        an extension module per source, and their shared library.

    Raises
    ------
    SystemExit
        If the compiler fails.
    """
    target = scratch / "lib"
    checksums = (f"{zlib.crc32((root / name).read_bytes()):08x} {name}" for name in modules)
    stamp = "\n".join((sysconfig.get_config_var("EXT_SUFFIX"), *checksums))
    command = [sys.executable, "-P", __file__, str(scratch), str(target), *modules]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # fixes the iteration order of sets
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"compiling failed:\n{done.stdout}{done.stderr}")
    (target / STAMP).write_text(f"{stamp}\n", encoding="utf-8")
    built = sorted(path.relative_to(target).as_posix() for path in target.rglob("*.*"))
    return {name: target / name for name in (STAMP, *built)}


def lay_beside_sources(root: Path, built: dict[str, Path]) -> None:
    """Replace earlier compiled files by new ones.

    If this is interrupted, a file is missing and none is used: the stamp is written first, and the
    shared library, which all modules need, last.
    """
    packages = {name.split("/")[0] for name in built if "/" in name}
    outdated = [path for package in packages for path in (root / package).rglob("*.so")]
    for path in (*outdated, *root.glob("milepost__mypyc.*.so")):
        path.unlink()
    for name in sorted(built, key=lambda name: (name != STAMP, "/" not in name)):
        copied = root / f"{name}.new"
        shutil.copy(built[name], copied)
        copied.replace(root / name)


def _build(scratch: Path, target: Path, modules: list[str]) -> None:
    """Compile in a separate process."""
    import mypyc
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    _add_flag("CFLAGS", "-fno-semantic-interposition -fvisibility=hidden")  # direct calls
    # Keep local paths out of the compiled files.
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
    """Append a flag to an environment variable."""
    os.environ[variable] = f"{os.environ.get(variable, '')} {flag}".strip()


if __name__ == "__main__":
    _build(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
