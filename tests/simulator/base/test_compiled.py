"""Compiled modules that are outdated are turned away, whatever it is that outdated them."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from simulator.base.compiled import LIBRARY, STAMP, FromSource, checksum_of, settle

SOURCES = ("simulator/one.py", "simulator/two.py")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which all is compiled."""
    monkeypatch.delenv("MILEPOST_PLAIN", raising=False)
    others = [finder for finder in sys.meta_path if not isinstance(finder, FromSource)]
    monkeypatch.setattr(sys, "meta_path", others)
    (tmp_path / "simulator").mkdir()
    lines = [EXTENSION_SUFFIXES[0]]
    for source in SOURCES:
        (tmp_path / source).write_text("VALUE = 1\n")
        lines.append(f"{checksum_of(tmp_path / source)} {source}")
    for source in (LIBRARY, *SOURCES):
        compiled(tmp_path, source).touch()
    (tmp_path / STAMP).write_text("\n".join(lines))
    return tmp_path


def compiled(root: Path, source: str) -> Path:
    return (root / source).with_suffix(EXTENSION_SUFFIXES[0])


def turned_away() -> bool:
    return isinstance(sys.meta_path[0], FromSource)


def test_what_is_up_to_date_runs(root: Path) -> None:
    assert settle(root) == "compiled (2 modules)"
    assert not turned_away()


def test_without_a_stamp_nothing_is_compiled(root: Path) -> None:
    (root / STAMP).unlink()
    assert settle(root) == "plain Python"
    assert not turned_away()


def test_a_source_that_was_touched_and_not_changed_is_up_to_date(root: Path) -> None:
    (root / SOURCES[0]).touch()
    assert settle(root).startswith("compiled")


@pytest.mark.parametrize("source", SOURCES)
def test_one_changed_source_turns_all_away(root: Path, source: str) -> None:
    (root / source).write_text("VALUE = 2\n")
    state = settle(root)
    assert state.startswith(f"plain Python: {source} changed after compiling")
    assert "make fast" in state
    assert "\n" not in state
    for module in ("simulator.one", "simulator.two"):
        spec = sys.meta_path[0].find_spec(module, None)
        assert spec is not None
        assert spec.origin == str(root / f"{module.replace('.', '/')}.py")
    assert sys.meta_path[0].find_spec("simulator.three", None) is None


@pytest.mark.parametrize("source", [LIBRARY, *SOURCES])
def test_one_missing_module_turns_all_away(root: Path, source: str) -> None:
    compiled(root, source).unlink()
    assert settle(root).startswith(f"plain Python: of {source} there is nothing compiled")
    assert turned_away()


def test_several_are_counted(root: Path) -> None:
    for source in SOURCES:
        (root / source).unlink()
    assert f"{SOURCES[0]} and 1 more changed" in settle(root)


def test_modules_for_another_python_are_turned_away(root: Path) -> None:
    stamp = root / STAMP
    stamp.write_text(stamp.read_text().replace(EXTENSION_SUFFIXES[0], ".cpython-27-none.so"))
    assert "for another Python (.cpython-27-none.so)" in settle(root)
    assert turned_away()


def test_plain_python_can_be_asked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILEPOST_PLAIN", "1")
    assert settle(root) == "plain Python: MILEPOST_PLAIN is set"
    assert turned_away()
