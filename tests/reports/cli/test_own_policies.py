"""A policy of one's own on the command line: faults are told as its own, doubtful hooks as such."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost

MODULE = '''
from policies.eviction.lru import Lru
from policies.placement.base import BasePlacer


class Fails(BasePlacer):
    """Divides by zero."""

    def place(self, prefix):
        return [prefix.prompt_tokens // 0]


class Misspelt(Lru):
    """Has a hook of another name."""

    def on_hits(self, entry):
        pass
'''
RUN = ("run", "--set", "workload.requests=50", "--capacity", "1 GiB")


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "my_policies.py"
    path.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop("my_policies", None)


def test_an_error_names_the_file_and_the_line(milepost: Milepost, module: Path) -> None:
    ended = milepost(*RUN, "--placer", "my_policies:Fails", "--quiet")
    line = MODULE.splitlines().index("        return [prefix.prompt_tokens // 0]") + 1
    assert ended.code == 2
    assert ended.err == (
        "error: your policy 'my_policies:Fails' failed: ZeroDivisionError: integer division or "
        f"modulo by zero ({module}:{line}, in place)\n"
    )


def test_a_hook_that_nobody_calls_is_told(milepost: Milepost) -> None:
    ended = milepost(*RUN, "--eviction", "my_policies:Misspelt", "--quiet")
    assert ended.code == 0
    assert "warning: eviction 'my_policies:Misspelt': 'on_hits' is never called" in ended.err
    assert "did you mean 'on_hit'?" in ended.err
