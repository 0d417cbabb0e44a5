"""Settings by the names that they had in earlier versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reports.api import Study
from reports.study.cells import Cell, expand
from reports.study.layers import parse_override, read_settings
from reports.study.renamed import current, current_key, current_value
from simulator.base.errors import UsageError


def cells_of(folder: Path, text: str, *overrides: str) -> list[Cell]:
    path = folder / "study.toml"
    path.write_text(text)
    return expand(read_settings(path, map(parse_override, overrides)))[1]


@pytest.mark.parametrize(
    ("before", "now"), [("tail", "tail"), ("block", "block"), ("run", "span"), ("span", "span")]
)
def test_old_words_are_the_same_study_and_the_same_cell(
    tmp_path: Path, before: str, now: str
) -> None:
    (cell,) = cells_of(tmp_path, f'[cache]\ncut = "{now}"\n')
    assert cell.study.cache.cut == now
    texts = (f'[cache]\nevicts = "{before}"\n', f'[cache]\ncut = "{before}"\n', "")
    for text, overrides in zip(texts, ((), (), (f"cache.evicts={before}",)), strict=True):
        (same,) = cells_of(tmp_path, text, *overrides)
        assert (same.identity, same.study) == (cell.identity, cell.study)


def test_in_the_grid_too(tmp_path: Path) -> None:
    now = cells_of(tmp_path, '[grid]\n"cache.cut" = ["tail", "span"]\n')
    for text in (
        '[grid]\n"cache.evicts" = ["tail", "run"]\n',
        '[grid.cache]\nevicts=["tail","run"]',
    ):
        assert cells_of(tmp_path, text) == now
    (pinned,) = cells_of(tmp_path, '[grid]\n"cache.evicts" = ["tail", "run"]\n', "cache.cut=block")
    assert pinned.study.cache.cut == "block"


def test_from_python() -> None:
    settings = Study({"cache": {"evicts": "run"}}).settings["cache"]
    assert settings["cut"] == "span"
    assert "evicts" not in settings
    assert Study().with_settings({"cache.evicts": "run"}).settings["cache"]["cut"] == "span"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[cache]\nevicts = "all"\n', "'cache.evicts': expected 'tail', 'block' or 'span', found"),
        ('[cache]\n\nevicts = "all"\n', "found 'all' (line 3)"),
        (
            '[grid]\n"cache.evicts" = ["tail", "all"]\n',
            "[grid]: 'cache.evicts': expected 'tail', 'block' or 'span', found 'all' (line 2)",
        ),
        ('[grid]\n"cache.evicts" = "tail"\n', "'grid.cache.evicts': expected a valid list"),
        (
            '[cache]\ncut = "tail"\nevicts = "tail"\n',
            "'cache.evicts' is another name of 'cache.cut': set one",
        ),
        (
            '[cache]\nevicts = "tail"\n[grid]\n"cache.cut" = ["tail", "span"]\n',
            "'cache.evicts' is both set and varied by the grid",
        ),
    ],
)
def test_a_message_names_a_setting_as_it_was_written(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UsageError) as caught:
        cells_of(tmp_path, text)
    assert line in str(caught.value)


def test_both_names_on_one_command_line_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'cache\.cut' is another name of 'cache\.evicts'"):
        cells_of(tmp_path, "", "cache.evicts=tail", "cache.cut=block")
    (cell,) = cells_of(tmp_path, '[cache]\nevicts = "tail"\n', "cache.cut=block")
    assert cell.study.cache.cut == "block"  # what is laid over a file may have another name


def test_stored_settings_of_before_get_what_is_new_of_them() -> None:
    assert current_key("grid.cache.evicts") == "grid.cache.cut"
    assert current_key("workload.evicts") == "workload.evicts"
    assert current_value("grid.cache.cut", ["run", "tail", 3]) == ["span", "tail", 3]
    assert current_value("policy.placer", "run") == "run"
    before: dict[str, Any] = {"study.cache.evicts": "run", "seed": 7}
    now = {"study.cache.cut": "span", "seed": 7}
    assert current(before) == now | {
        "study.cache.pools": "unified",
        "study.cache.count_running": False,
    }
    assert current(now) == now
    assert json.dumps(current({"grid.cache.evicts": ["run"]})) == '{"grid.cache.cut": ["span"]}'
