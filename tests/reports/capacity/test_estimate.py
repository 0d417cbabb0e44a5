"""What `--dry-run` says, against what a search then takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.capacity.estimate import estimate_capacity
from reports.capacity.finding import find_capacity
from reports.cli import main
from reports.study.layers import read_settings
from simulator.base.errors import UsageError
from tests.reports.capacity.examples import toml
from tests.reports.capacity.test_finding import SEVEN_HITS, generated, question


@pytest.mark.parametrize("within", [0.0, 0.03, 3.0])
def test_a_search_takes_as_many_cells_as_said(tmp_path: Path, within: float) -> None:
    settings = read_settings(toml(tmp_path, [20, 40, 90]))
    asked = question(settings, SEVEN_HITS, within=within)
    plan = estimate_capacity(asked, 1)
    taken = find_capacity(asked, tmp_path / "out", 1).cells
    assert (plan["combinations"], plan["replications"]) == (2, 1)
    assert plan["cells_at_least"] == 2 * 3
    assert plan["cells_at_least"] <= taken <= plan["cells_at_most"]
    assert plan["requests_at_least"] == 12 * plan["cells_at_least"]
    assert plan["requests_at_most"] == 12 * plan["cells_at_most"]


def test_variations_and_replications_are_counted(tmp_path: Path) -> None:
    settings = generated(**{"workload.requests": 15, "study.replications": 2})
    asked = question(settings, "token_hit_rate>=10%", within=3.0, sensitivity=True)
    plan = estimate_capacity(asked, 1)
    taken = find_capacity(asked, tmp_path, 1).cells
    assert plan["cells_at_least"] == 2 * 3
    assert 2 * 3 * 2 < taken <= plan["cells_at_most"]


def test_without_a_grid_the_workload_says_where_to_begin() -> None:
    settings = generated()
    del settings.values["grid.cache.capacity"]
    plan = estimate_capacity(question(settings, "token_hit_rate>=10%"), 1)
    assert plan["cells_at_least"] > 3 * 3
    assert plan["minutes_at_least"] <= plan["minutes_at_most"]


def test_what_the_search_refuses_is_refused_before() -> None:
    with pytest.raises(UsageError, match="needs --prices"):
        estimate_capacity(question(generated(), "cost<=1"), 1)


def test_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = toml(tmp_path, [20, 40]), tmp_path / "out"
    flags = [str(file), "--target", "token_hit_rate>=9%", "--out", str(out), "--dry-run"]
    with pytest.raises(SystemExit) as ended:
        main(["capacity", *flags])
    assert ended.value.code == 0
    assert "2 combinations x 1 replications, 4 to " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["capacity", *flags, "--json"])
    assert json.loads(capsys.readouterr().out)["cells_at_least"] == 4
    assert not out.exists()
