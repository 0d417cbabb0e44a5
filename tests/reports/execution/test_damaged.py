"""A sweep that is resumed on damaged files ends with the bytes of one that was not, or refuses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.execution.sweep import sweep
from reports.study.layers import read_settings
from simulator.base.errors import DataError

STUDY = """
[workload]
requests = 60
documents = 3
[study]
replications = 2
[grid]
"policy.placer" = ["last", "branch"]
"""
RESULTS = ("cells.parquet", "manifest.json", "study.resolved.toml")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reports.artifacts.writing.write_page", lambda *_: [])
        sweep(read_settings(folder / "study.toml"), folder / "out", 1, "milepost sweep")
    return folder


def damages(content: bytes) -> Iterator[bytes]:
    """Yield a file with a byte flipped here and there, cut short, empty, or with another figure."""
    for share in (0.1, 0.35, 0.6, 0.9):
        at = int(share * len(content))
        yield content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]
    yield content[: len(content) // 2]
    yield b""
    yield content.replace(b"0", b"7", 1)


@pytest.mark.parametrize(
    "pattern", ["manifest.json", "cells.parquet", "traces/*", "journal/*.json"]
)
def test_a_resumed_sweep_heals_or_refuses(
    pattern: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.artifacts.writing.write_page", lambda *_: [])
    settings = read_settings(whole / "study.toml")
    for number, path in enumerate(sorted((whole / "out").glob(pattern))):
        for kind, content in enumerate(damages(path.read_bytes())):
            out = tmp_path / f"{number}-{kind}"
            shutil.copytree(whole / "out", out)
            (out / path.relative_to(whole / "out")).write_bytes(content)
            if path.name == "header.json":
                with pytest.raises(DataError, match="damaged"):
                    sweep(settings, out, 1, "milepost sweep")
                continue
            sweep(settings, out, 1, "milepost sweep")
            for name in RESULTS:
                assert (out / name).read_bytes() == (whole / "out" / name).read_bytes()
