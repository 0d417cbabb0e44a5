"""The runner of cells: order, what is kept, what is tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.artifacts.journal import CellOutcome
from reports.execution.runner import CellTask, Runner, study_hash
from reports.study.cells import Cell, expand
from reports.study.layers import read_settings
from simulator.base.errors import UsageError

SETTINGS = {
    "workload.requests": 50,
    "grid.policy.placer": ["last", "branch", "none"],
    "study.replications": 2,
}
ran: list[str] = []


def work(task: CellTask) -> CellOutcome:
    placer = task.cell.study.policy.placer
    ran.append(placer)
    if placer == "none" and ran.count("none") < 3:
        raise UsageError("not yet")
    return CellOutcome(task.identity, {"placer": placer, "requests": task.facts.requests})


@pytest.fixture
def cells() -> list[Cell]:
    ran.clear()
    return expand(read_settings(None, [(key, v, "a test") for key, v in SETTINGS.items()]))[1]


def test_outcomes_come_in_the_order_of_the_cells_and_failed_ones_are_tried_again(
    cells: list[Cell], tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    with Runner(tmp_path, "a", 1, on_progress=lambda *counts: seen.append(counts)) as runner:
        some = runner.run(work, cells[1:3])
        outcomes = runner.run(work, cells[::-1])
        assert runner.cells == len(cells)
    assert [outcome.cell for outcome in some] == [cell.identity for cell in cells[1:3]]
    assert [outcome.cell for outcome in outcomes] == [cell.identity for cell in cells[::-1]]
    assert [outcome.error for outcome in outcomes[:2]] == ["not yet"] * 2
    assert seen == [(0, 2), (1, 2), (2, 2), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]
    ran.clear()
    ran.extend(["none", "none"])
    with Runner(tmp_path, "a", 1) as runner:
        again = runner.run(work, cells)
    assert ran[2:] == ["none", "none"]
    assert [(o.metrics or {})["requests"] for o in again] == [50] * 6


def test_without_a_folder_nothing_is_left(cells: list[Cell]) -> None:
    with Runner(None, "a", 1) as runner:
        runner.run(work, cells[:1])
        folder = runner.folder
        assert folder.is_dir()
    assert not folder.exists()
    with pytest.raises(UsageError, match="needs --out DIR"):
        Runner(None, "a", 1, "tcp://127.0.0.1:1")


def test_a_folder_is_bound_to_a_study_and_to_what_is_asked_of_it(cells: list[Cell]) -> None:
    study = cells[0].study
    margins = study.study.model_copy(update={"margin_points": 3.0})
    same = study.model_copy(update={"study": margins})
    assert study_hash(study, cells) == study_hash(same, cells)
    assert study_hash(study, cells) != study_hash(study, cells, "drift")
    assert study_hash(study, cells) != study_hash(study, cells[1:])
