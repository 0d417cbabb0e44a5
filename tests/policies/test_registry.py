"""Policies by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from policies.estimation import WindowEstimator
from policies.placement import PLACERS, Block, Dyadic, Last
from policies.registry import canonical, create, describe, find
from simulator.base.errors import UsageError
from simulator.base.parameters import REQUIRED
from tests.contracts.prefixes import build_prefix, place


def test_a_name_alone_and_with_parameters() -> None:
    assert type(create("placer", "last")) is Last
    assert type(create("estimator", " window:requests=5 ")) is WindowEstimator
    block = create("placer", "block: size = 7")
    assert type(block) is Block
    assert list(place(block, build_prefix([20]))) == [7, 14]


def test_each_call_makes_a_new_policy() -> None:
    assert create("placer", "optimal:budget=2") is not create("placer", "optimal:budget=2")


@pytest.mark.parametrize(
    ("spec", "spelling"),
    [
        ("last", "last"),
        ("last:", "last"),
        ("dyadic:first=768", "dyadic"),
        ("dyadic:first=+0512", "dyadic:first=512"),
        ("random:seed=3, budget=2", "random:budget=2,seed=3"),
        ("random:seed=0,budget=2", "random:budget=2"),
        ("optimal:decay=.990,budget=8,window=100", "optimal:budget=8,decay=0.99"),
        ("policies.placement.block:Block:size=4", "policies.placement.block:Block:size=4"),
        ("policies.placement:Last", "policies.placement:Last"),
    ],
)
def test_one_spelling(spec: str, spelling: str) -> None:
    assert canonical("placer", spec) == spelling
    assert canonical("placer", spelling) == spelling


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("blok:size=4", "placer 'blok:size=4': unknown name 'blok'; did you mean 'block'?"),
        ("", "placer '': unknown name ''; expected one of: none, last, block, dense"),
        ("block", "parameter 'size' is missing (write size=...)"),
        ("block:sice=4", "unknown parameter 'sice'; did you mean 'size'?"),
        ("dense:size=4", "unknown parameter 'size'; it takes none"),
        ("block:64", "expected key=value, found '64'"),
        ("block:size", "expected key=value, found 'size'"),
        ("block:size=", "size: expected a whole number, found ''"),
        ("block:size=4.5", "size: expected a whole number, found '4.5'"),
        ("block:size=1_000", "size: expected a whole number, found '1_000'"),
        ("block:size=nan", "size: expected a whole number, found 'nan'"),
        ("block:size=9999999999999999", "size: expected a whole number"),
        ("block:size=" + "9" * 5000, "size: expected a whole number"),
        ("block:size=0", "size: expected 1 or more, found 0"),
        ("block:size=4,size=5", "parameter 'size' is given twice"),
        ("optimal:budget=2,decay=nan", "decay: expected a finite number, found 'nan'"),
        ("optimal:budget=2,decay=inf", "decay: expected a finite number, found 'inf'"),
        ("optimal:budget=2,decay=1e999", "decay: expected a finite number, found '1e999'"),
        ("optimal:budget=2,decay=None", "decay: expected a finite number, found 'None'"),
        ("nowhere:Thing", "cannot import 'Thing' from 'nowhere': ModuleNotFoundError"),
        ("policies.placement:Thing", "cannot import 'Thing' from 'policies.placement': Attribute"),
        ("policies.placement:PLACERS", "'PLACERS' from 'policies.placement' is not a class"),
        (
            "policies.estimation:WindowEstimator",
            "'WindowEstimator' from 'policies.estimation' is no placer: it lacks clairvoyant",
        ),
        ("..x:Y", "cannot import 'Y' from '..x'"),
        (":x", "cannot import 'x' from ''"),
        ("a:b\nc", "cannot import 'b\\nc' from 'a'"),
        ("policies.placement:BasePlacer", "Can't instantiate abstract class BasePlacer"),
        ("block\n:size=4", "placer 'block\\n:size=4'"),
    ],
)
def test_a_bad_policy_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        create("placer", spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError):
        canonical("placer", spec)


def test_an_unknown_kind() -> None:
    with pytest.raises(UsageError, match="did you mean 'placer'"):
        create("placers", "last")


def test_a_class_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_placer.py").write_text(
        "from policies.placement import BasePlacer\n"
        "class Middle(BasePlacer):\n"
        "    def __init__(self, at: float, twice: bool = False, name: str = 'm'):\n"
        "        self.at = at\n"
        "    def place(self, prefix, window):\n"
        "        return [int(prefix.prompt_tokens * self.at)]\n"
    )
    (tmp_path / "broken_placer.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    placer = create("placer", "own_placer:Middle:at=5e-1")
    assert place(placer, build_prefix([20])) == [10]
    spec = "own_placer:Middle:twice=true,at=.5,name=m"
    assert canonical("placer", spec) == "own_placer:Middle:at=0.5,twice=true"
    with pytest.raises(UsageError, match="twice: expected true or false, found 'yes'"):
        create("placer", "own_placer:Middle:at=1,twice=yes")
    with pytest.raises(UsageError, match="ZeroDivisionError: division by zero"):
        create("placer", "broken_placer:Middle")


def test_a_method_that_cannot_be_called_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "older.py").write_text(
        "from policies.placement.base import BasePlacer\n"
        "class Half(BasePlacer):\n"
        "    def place(self, prefix):\n"
        "        return [prefix.prompt_tokens // 2]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError) as caught:
        create("placer", "older:Half")
    assert str(caught.value) == (
        "placer 'older:Half': 'Half' from 'older' is no placer: it has place(self, prefix); "
        "expected place(self, prefix, window)"
    )


def test_the_working_folder_is_looked_in_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from policies.placement import Last\nclass Own(Last):\n    pass\n"
    for name in ("placer_of_this_folder", "fractions"):
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    monkeypatch.chdir(tmp_path)
    assert isinstance(create("placer", "placer_of_this_folder:Own"), Last)
    with pytest.raises(UsageError, match="module 'fractions' has no attribute 'Own'"):
        create("placer", "fractions:Own")


def test_a_policy_is_found_by_its_name_alone_or_by_its_class() -> None:
    assert [row.kind for row in find("value")] == ["eviction", "admission"]
    (named,) = find("block:size=4")
    (imported,) = find("policies.placement:Block:size=4")
    assert imported.documentation == named.documentation
    assert (named.usage, imported.usage) == ("block:size=", "policies.placement:Block:size=")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bolck", "unknown policy 'bolck'; did you mean 'block'?"),
        ("mine:size=3", "unknown policy 'mine'; expected one of: none"),
        ("nowhere:Thing", "cannot import 'Thing' from 'nowhere': ModuleNotFoundError"),
        ("simulator.plugins.protocols:Expiring", "no policy: to be "),
        ("policies.placement:PLACERS", "is not a class"),
    ],
)
def test_what_is_not_found_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_of_several_kinds_are_told_once() -> None:
    with pytest.raises(UsageError) as caught:
        find("xyzzy")
    known = str(caught.value).partition("expected one of: ")[2].split(", ")
    assert {"marconi", "clairvoyant", "value"} <= set(known)
    assert len(known) == len(set(known))


def test_a_class_that_says_nothing_is_not_told_of_as_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silent_policy.py").write_text(
        "from policies.eviction import Lru\n"
        "class Silent(Lru):\n"
        "    pass\n"
        "class Odd(Lru):\n"
        "    def __init__(self, k: 'Nowhere'):\n"
        "        pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (row,) = find("silent_policy:Silent")
    assert (row.kind, row.documentation.summary, row.documentation.source) == ("eviction", "", "")
    with pytest.raises(UsageError, match="policy 'silent_policy:Odd': name 'Nowhere'"):
        find("silent_policy:Odd")


def test_rows_for_people() -> None:
    rows = {row.name: row for row in describe("placer")}
    assert list(rows) == list(PLACERS)
    assert rows["dyadic"].usage == "dyadic:first=768"
    assert rows["block"].usage == "block:size="
    assert rows["block"].parameters[0].default is REQUIRED
    assert rows["optimal"].usage == (
        "optimal:budget=,window=100,replan=10,scope=global,coordinate=start"
    )
    names = [p.name for p in rows["optimal"].parameters]
    assert names[:5] == ["budget", "window", "decay", "train", "replan"]
    assert {"drift", "scope", "coordinate"} <= set(names)
    assert rows["sqrt"].documentation.source.startswith("Chen")
    assert [row.name for row in rows.values() if row.clairvoyant] == ["clairvoyant"]
    assert type(create("placer", rows["dyadic"].usage)) is Dyadic


def test_naming_and_describing_policies_imports_nothing_heavy() -> None:
    heavy = {"scipy", "polars", "altair", "torch", "simpy", "pydantic"}
    code = (
        "import sys; from policies.registry import canonical, describe;"
        "describe('placer'); describe('estimator'); canonical('placer', 'optimal:budget=3');"
        f"sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
