"""Foresight cannot hide: whoever looks ahead is marked on every page, table and answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.results.marks import LOOKS_AHEAD
from tests.reports.cli.conftest import Milepost


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    text = "from policies.eviction.belady import Belady\n\n\nclass Derived(Belady):\n    pass\n"
    (tmp_path / "seers.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("seers", None)


STUDY = """
[workload]
requests = 200
documents = 5
[server]
kind = "instant"
[study]
replications = 2
[policy]
placer = "last"
"""


def test_a_plug_in_is_marked_wherever_it_stands(milepost: Milepost, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    run = milepost("run", study, "--eviction", "seers:Derived", "--json", "--out", tmp_path / "a")
    assert run.json["marks"] == [LOOKS_AHEAD]
    assert "(looks ahead)" in milepost("run", study, "--eviction", "seers:Derived").out
    milepost("run", study, "--out", tmp_path / "b")
    compared = " ".join(milepost("compare", tmp_path / "a", tmp_path / "b").out.split())
    assert "A has policies with a mark (looks ahead)" in compared
    assert "B has policies" not in compared
    study.write_text(STUDY + '[grid]\n"policy.eviction" = ["lru", "seers:Derived"]\n')
    milepost("sweep", study, "--out", tmp_path / "sweep", "--jobs", 1)
    sys.modules.pop("seers")  # the page does not import it
    (tmp_path / "seers.py").unlink()
    milepost("report", tmp_path / "sweep")
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert "looks ahead in the trace, which no real system can" in page


def test_a_plug_in_that_looks_ahead_is_not_recommended(milepost: Milepost, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    grid = '[grid]\n"policy.eviction" = ["lru", "seers:Derived"]\n'
    study.write_text(STUDY + grid)
    ended = milepost(
        *("capacity", study, "--target", "token_hit_rate>=5%", "--out", tmp_path / "c", "--json"),
        *("--jobs", 1),
    )
    marks = {answer["name"]: answer["marks"] for answer in ended.json["answers"]}
    assert sorted(marks.values()) == [[], [LOOKS_AHEAD]]
    assert ended.json["answers"][ended.json["best"]]["marks"] == []
