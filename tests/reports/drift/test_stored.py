"""The folder of a drift study: the page again, images, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.cli import main
from reports.drift.stored import read_series, refuse_other_folder, write_series
from reports.drift.study import DriftStudy
from simulator.base.errors import DataError, UsageError
from tests.reports.cli.conftest import Milepost, milepost

__all__ = ["milepost"]  # a fixture

FILES = ("series.json", "drift.json", "report.html")
FLAGS = "--generator system_prompts:count=6 --drift rewrites:times=1,moved=600 --requests 700"
PLACERS = "grid.policy.placer=['optimal:budget=2,train=200','optimal:budget=2,window=50']"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that `milepost drift` left; tests change copies of it."""
    folder = tmp_path_factory.mktemp("study") / "out"
    words = ["drift", *FLAGS.split(), "--replications", "2", "--set", PLACERS, "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--set", "title=kept <b>", "--out", str(folder)])
    assert ended.value.code == 0
    return folder


@pytest.fixture
def folder(left: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(left, tmp_path / "copy"))


def test_figures_and_page_are_made_again_with_the_same_bytes(
    milepost: Milepost, left: Path, folder: Path
) -> None:
    for name in FILES[1:]:
        (folder / name).unlink()
    ended = milepost("report", folder)
    assert ended.code == 0
    assert ended.out.split() == [str(folder / "report.html")]
    for name in FILES:
        assert (folder / name).read_bytes() == (left / name).read_bytes()
    assert json.loads((folder / "drift.json").read_bytes())["schema_version"] == 1


def test_every_chart_becomes_an_image_with_a_title(milepost: Milepost, folder: Path) -> None:
    files = milepost("report", folder, "--images", "svg", "--json").json["files"]
    names = ["law", "kolmogorov", "variation", "savings", "regret", "pace", "churn"]
    assert files == [str(folder / "report.html"), *(f"{folder}/charts/{n}.svg" for n in names)]
    shown = (folder / "charts/kolmogorov.svg").read_text()
    assert "Kolmogorov distance of windows of 100 requests; grey: 95 % of splits at random" in shown
    assert "from the first window" in shown  # the legend
    refuse_other_folder(folder)  # images are ours


def test_numbers_keep_all_their_digits(left: Path, tmp_path: Path) -> None:
    study = read_series(left)
    course = study.replications[1].courses[study.placers[1]]
    assert course.saved_tokens.dtype == course.regret_tokens.dtype == np.float64
    assert course.rewritten.dtype == study.replications[0].overlaps.depths.dtype == np.int64
    course.regret_tokens[:3] = [0.1 + 0.2, 5e-324, 2.0**52 + 0.5]
    write_series(tmp_path, study)
    again = read_series(tmp_path).replications[1].courses[study.placers[1]]
    assert again.regret_tokens.tobytes() == course.regret_tokens.tobytes()
    assert list(read_series(tmp_path).paced) == list(study.paced)  # whole numbers as keys


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("", "series.json:1: not JSON"),
        ("{", "series.json:1: not JSON"),
        ("[]", "series.json: damaged: expected a drift study"),
        ("[" * 100_000, "series.json: not a drift study: nested too deeply"),
        ("\udcff", "series.json: binary"),
        ("{}", "field 'schema_version': expected 1, found None"),
        ('{"schema_version": 2}', "field 'schema_version': expected 1, found 2"),
        ('{"schema_version": 1}', "field 'found': expected this field, found none"),
    ],
)
def test_what_is_damaged_or_newer_is_one_line(
    milepost: Milepost, folder: Path, damage: str, message: str
) -> None:
    (folder / "series.json").write_text(damage, errors="surrogateescape")
    ended = milepost("report", folder)
    assert ended.code == 3
    assert ended.err.count("\n") == 1
    assert message in ended.err


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("budget", 0, "field 'budget': damaged"),
        ("windows.first", -1, "field 'windows': damaged"),
        ("windows.count", 5, "field 'windows': damaged"),
        ("windows.width", 10**30, "field 'found.windows.width': expected"),
        ("windows.width", 10**9, "field 'replications': damaged"),
        ("placers", [], "field 'placers': damaged"),
        ("placers.0", "branch", "field 'placers': damaged"),
        ("paced", {}, "field 'paced': damaged"),
        ("distances.steps", [], "field 'distances': damaged"),
        ("distances.change", None, "field 'change': damaged"),
        ("replications", [], "field 'replications': damaged"),
        ("replications.1.courses", {}, "field 'replications': damaged"),
        ("replications.1.courses.clairvoyant.plans", [1], "field 'replications': damaged"),
        ("replications.0.overlap_tokens", [1.0], "field 'replications': damaged"),
        ("replications.0.overlaps.depths", [16] * 600, "field 'replications': damaged"),
        ("replications.0.overlaps.depths", [0] * 700, "field 'replications': damaged"),
        ("replications.0.overlaps.depths", [10**30], "expected a whole number of 64 bits"),
        ("replications.0.overlap_tokens", [1e300], "expected a number <= 9007199254740992"),
        (
            "replications.0.overlap_tokens",
            ["1"],
            "field 'found.replications[0].overlap_tokens': expected a number, found str at [0]",
        ),
    ],
)
def test_parts_that_contradict_each_other_are_refused(
    folder: Path, place: str, value: object, message: str
) -> None:
    path = folder / "series.json"
    kept = json.loads(path.read_bytes())
    *above, last = place.split(".")
    inside: Any = kept["found"]
    for name in above:
        inside = inside[int(name) if name.isdecimal() else name]
    inside[int(last) if last.isdecimal() else last] = value
    path.write_text(json.dumps(kept))
    with pytest.raises(DataError) as refused:
        read_series(folder)
    assert message in str(refused.value)


def test_a_folder_of_an_earlier_version_is_told_of(milepost: Milepost, folder: Path) -> None:
    (folder / "series.json").unlink()
    ended = milepost("report", folder)
    assert ended.code == 2
    assert "series.json is missing); run `milepost drift` again" in ended.err


def test_a_folder_of_something_else_is_refused(milepost: Milepost, folder: Path) -> None:
    before = (folder / "report.html").read_bytes()
    (folder / "manifest.json").write_text("{}")
    ended = milepost("drift", "--out", folder)
    assert ended.code == 2
    assert "not the folder of a drift study (it holds 'manifest.json')" in ended.err
    assert (folder / "report.html").read_bytes() == before


def test_an_earlier_study_and_an_empty_folder_are_not(folder: Path, tmp_path: Path) -> None:
    refuse_other_folder(folder)
    refuse_other_folder(tmp_path / "new")
    (folder / "cells.parquet").touch()
    with pytest.raises(UsageError):
        refuse_other_folder(folder)


def test_the_study_is_read_whole(left: Path) -> None:
    study = read_series(left)
    assert isinstance(study, DriftStudy)
    assert study.study["title"] == "kept <b>"
    assert len({each.overlaps.seed for each in study.replications}) == 2
    assert study.truth
