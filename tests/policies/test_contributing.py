"""The policies that CONTRIBUTING.md shows are policies."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from policies.documentation import documentation_of
from policies.objects import ObjectStream, replay
from policies.registry import KINDS, create, doubts_of, find
from tests.conftest import ROOT

BLOCK = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
IMPORTS = """
from __future__ import annotations
from collections.abc import Sequence
from policies.eviction.base import BaseEviction
from policies.placement.base import BasePlacer
from simulator.plugins.entries import Entry
from simulator.plugins.protocols import Prefix, Window
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text())
    classes = [dedent(block) for block in blocks if block.lstrip().startswith("class ")]
    (tmp_path / "shown.py").write_text(IMPORTS + "\n\n".join(classes))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("shown", None)


@pytest.mark.parametrize(("kind", "name"), [("placer", "Middle"), ("eviction", "Mru")])
def test_each_is_of_its_kind_and_documented(kind: str, name: str) -> None:
    (info,) = find(f"shown:{name}")
    assert info.kind == kind
    assert info.documentation.source
    assert doubts_of(kind, f"shown:{name}") == []


def test_the_eviction_policy_evicts_what_was_used_last() -> None:
    stream = ObjectStream.of([1, 2, 3, 1, 4, 1], [1] * 6)
    outcome = replay(stream, create("eviction", "shown:Mru"), 2)
    assert outcome.hit.tolist() == [False, False, False, True, False, False]


@pytest.mark.parametrize(("kind", "name"), [("placer", "Middle"), ("eviction", "Mru")])
def test_each_has_an_example_that_is_true(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = getattr(importlib.import_module("shown"), name)
    monkeypatch.setitem(KINDS[kind].classes, name.lower(), plugin)
    example = documentation_of(plugin).example
    test = doctest.DocTestParser().get_doctest(example, {}, name, None, None)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert (results.failed, results.attempted) == (0, 2)
