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

    def place(self, prefix, window):
        return [prefix.prompt_tokens // 0]


class Raises(BasePlacer):
    """Raises what Milepost itself uses for other things."""

    def __init__(self, error: str) -> None:
        self.error = error

    def place(self, prefix, window):
        errors = {"pipe": BrokenPipeError(), "exit": SystemExit(7), "file": OSError(2, "no")}
        raise errors[self.error]


class Returns(BasePlacer):
    """Returns no positions."""

    def __init__(self, what: str) -> None:
        self.what = what

    def place(self, prefix, window):
        return None if self.what == "none" else self.what


class Observer(Fails):
    """Has a hook that its base class says not to call."""

    def place(self, prefix, window):
        return []

    def observe(self, overlap):
        pass


class Three(Lru):
    """Evicts what is no entry."""

    def victim(self):
        return 3


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


@pytest.mark.parametrize(
    ("error", "named"),
    [("pipe", "BrokenPipeError"), ("exit", "SystemExit: 7"), ("file", "FileNotFoundError")],
)
def test_errors_that_mean_something_else_elsewhere_are_its_own_too(
    milepost: Milepost, error: str, named: str
) -> None:
    ended = milepost(*RUN, "--placer", f"my_policies:Raises:error={error}", "--quiet")
    assert ended.code == 2
    assert f"failed: {named}" in ended.err
    assert "my_policies.py:" in ended.err


def test_what_is_no_answer_is_refused_by_name(milepost: Milepost) -> None:
    for what, shown in (("none", "None"), ("abc", "'abc'")):
        ended = milepost(*RUN, "--placer", f"my_policies:Returns:what={what}", "--quiet")
        assert ended.code == 2
        assert ended.err == (
            f"error: placer Returns: place returned {shown}; expected positions in increasing "
            "order\n"
        )
    ended = milepost(*RUN, "--eviction", "my_policies:Three", "--quiet")
    assert ended.code == 2
    assert "eviction Three: victim returned 3; expected an entry of the cache" in ended.err


def test_an_observer_that_does_not_say_so_is_told(milepost: Milepost) -> None:
    ended = milepost(*RUN, "--placer", "my_policies:Observer", "--quiet")
    assert ended.code == 0
    assert "'observe' is never called: the class does not say observes = True" in ended.err
