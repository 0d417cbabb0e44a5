"""Plug-ins of one's own: whose fault an error is, and hooks that nobody calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from policies.own import fault_of
from policies.registry import create, doubts_of
from simulator.base.errors import UsageError
from tests.contracts.prefixes import build_prefix, place

MODULE = '''
from policies.eviction.base import BaseEviction
from policies.eviction.lru import Lru
from policies.placement.base import BasePlacer


class Fails(BasePlacer):
    def place(self, prefix, window):
        return [prefix.prompt_tokens // self.zero]

    zero = 0


class Refuses(BasePlacer):
    def __init__(self):
        raise ValueError("not today")

    def place(self, prefix, window):
        return []


class Misspelt(Lru):
    def on_hits(self, entry):
        pass

    def on_anything(self, entry):
        pass

    def helper(self):
        pass


class Unranked(BaseEviction):
    def rank(self, entry):
        return 0


class Fine(Lru):
    """Sorts as Lru does."""

    def on_hit(self, entry):
        super().on_hit(entry)
'''


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "policies_of_mine.py"
    path.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop("policies_of_mine", None)


def test_an_error_in_a_class_of_one_s_own_names_its_file_and_line(module: Path) -> None:
    placer = create("placer", "policies_of_mine:Fails")
    with pytest.raises(ZeroDivisionError) as raised:
        place(placer, build_prefix([5]))
    fault = fault_of(raised.value)
    assert fault is not None
    assert fault.startswith("your policy 'policies_of_mine:Fails' failed: ZeroDivisionError")
    line = MODULE.splitlines().index("        return [prefix.prompt_tokens // self.zero]") + 1
    assert fault.endswith(f"({module}:{line}, in place)")


def test_an_error_of_ours_is_not_laid_at_their_door() -> None:
    create("placer", "policies_of_mine:Fails")
    with pytest.raises(ZeroDivisionError) as raised:
        print(1 // 0)
    assert fault_of(raised.value) is None


def test_a_constructor_that_fails_is_named_too() -> None:
    with pytest.raises(UsageError, match=r"ValueError: not today \(.*policies_of_mine.py:\d+"):
        create("placer", "policies_of_mine:Refuses")


def test_a_hook_that_nobody_calls_is_doubted() -> None:
    assert doubts_of("eviction", "policies_of_mine:Misspelt") == [
        "eviction 'policies_of_mine:Misspelt': 'on_hits' is never called: no hook is named so; "
        "did you mean 'on_hit'?",
        "eviction 'policies_of_mine:Misspelt': 'on_anything' is never called: no hook is named so",
    ]
    (doubt,) = doubts_of("eviction", "policies_of_mine:Unranked")
    assert "'rank' is never called: it is a hook of policies.eviction.ranked.Ranked" in doubt


@pytest.mark.parametrize("spec", ["policies_of_mine:Fine", "lru", "gdsf"])
def test_what_is_in_order_is_not_doubted(spec: str) -> None:
    assert doubts_of("eviction", spec) == []
