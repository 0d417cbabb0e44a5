"""The compiled modules: the same bytes from the same source, the same results as plain Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.compiled

PARTS = ("simulator", "policies", "workloads", "calibration", "reports")
FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore")
COMMAND = "from reports.entry import main; main()"
OWN_POLICY = """
from policies.eviction.lru import Lru
from policies.placement.adaptive import Adaptive
from policies.placement.base import BasePlacer

class Middle(BasePlacer):
    def place(self, prefix, window):
        middle = prefix.prompt_tokens // 2
        return [middle] if middle > prefix.resume else []

class Forgetful(Lru):
    def on_hit(self, entry):
        entry.policy_data = "hit"
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more, "MILEPOST_PLAIN": ""}


def start_building(folder: Path) -> subprocess.Popen[str]:
    """Begin to build a compiled wheel from a copy of the source in `folder`."""
    source = folder / "source"
    for name in PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "compiled.txt")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    return subprocess.Popen(
        [*pip, "--wheel-dir", str(folder), str(source)],
        env=environment(MILEPOST_COMPILE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two wheels, compiled at one time in folders whose names differ in length."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "the_other")]
    for build in [start_building(folder) for folder in folders]:
        output, _ = build.communicate()
        assert build.returncode == 0, output
    return [next(folder.glob("*.whl")) for folder in folders]


@pytest.fixture(scope="module")
def unpacked(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder)
    return folder


def run(unpacked: Path, *arguments: str, cwd: Path = ROOT) -> list[str]:
    """Run Python with the compiled modules before all others; return the lines that it prints."""
    path = os.pathsep.join((str(unpacked), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        env=environment(PYTHONPATH=path),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_the_same_source_gives_the_same_bytes(wheels: list[Path]) -> None:
    one, other = wheels
    assert one.name == other.name
    assert not one.name.endswith("py3-none-any.whl")
    assert one.read_bytes() == other.read_bytes()


def test_no_folder_of_this_machine_is_written_into_it(wheels: list[Path], unpacked: Path) -> None:
    (library,) = unpacked.glob("*.so")
    for folder in (wheels[0].parent, ROOT, Path(sys.prefix), Path(tempfile.gettempdir())):
        assert bytes(folder) not in library.read_bytes()


def test_results_are_those_of_plain_python(unpacked: Path) -> None:
    first, *changed = run(unpacked, "-m", "tests.compiled.results")
    assert first.startswith("compiled (")
    assert changed == []


def test_policies_of_a_user_run_with_compiled_modules(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_POLICY)
    settings = ("--placer", "own:Middle", "--eviction", "own:Forgetful", "--capacity", "2GiB")
    workload = ("--set", "workload.requests=200", "--out", "results")
    run(unpacked, "-c", COMMAND, "run", *settings, *workload, cwd=tmp_path)
