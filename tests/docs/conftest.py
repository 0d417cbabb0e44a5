from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.fences import CodeBlock, code_blocks
from tests.docs.running import BrokenBlockError, run_block
from tests.docs.samples import make_samples

CheckBlocks = Callable[[Path], None]


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of small files under the names that the documentation uses."""
    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


@pytest.fixture
def check_blocks(
    samples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> CheckBlocks:
    """Run all code blocks of a document, one after the other, in a folder with the samples."""
    folder = tmp_path / "here"
    shutil.copytree(samples, folder, symlinks=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.syspath_prepend(str(folder))

    def check(document: Path) -> None:
        names: dict[str, object] = {}
        problems = [_problem(block, names, capsys) for block in code_blocks(document)]
        assert not [problem for problem in problems if problem]

    return check


def _problem(block: CodeBlock, names: dict[str, object], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is wrong with a block, with what it printed on stderr; "" where nothing is."""
    try:
        run_block(block, names)
    except BrokenBlockError as error:
        return f"{block.place}: {error} {capsys.readouterr().err[-600:]}"
    capsys.readouterr()
    return ""
