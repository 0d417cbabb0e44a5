from __future__ import annotations

from pathlib import Path

import pytest

from reports.artifacts.journal import CellOutcome
from reports.execution.executors import run_tasks
from tests.reports.worker_tasks import Job, work


def outcomes(jobs: list[Job], processes: int) -> dict[str, CellOutcome]:
    ended = list(run_tasks(work, jobs, processes))
    assert len(ended) == len(jobs)
    return {outcome.cell: outcome for outcome in ended}


def squares(numbers: list[int]) -> dict[str, CellOutcome]:
    return {str(n): CellOutcome(str(n), {"square": n * n}) for n in numbers}


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failing_task_leaves_the_others_alone(processes: int) -> None:
    jobs = [Job("0"), Job("1", "raise"), Job("2", "refuse"), Job("3")]
    ended = outcomes(jobs, processes)
    assert ended.pop("1") == CellOutcome("1", None, "ZeroDivisionError: bad\\nluck")
    assert ended.pop("2") == CellOutcome("2", None, "no such thing")
    assert ended == squares([0, 3])


def test_a_worker_that_dies_once_is_replaced(tmp_path: Path) -> None:
    jobs = [Job("0"), Job("1", "die once", tmp_path / "mark"), Job("2"), Job("3")]
    assert outcomes(jobs, 2) == squares([0, 1, 2, 3])


def test_a_task_that_kills_its_workers_is_given_up_and_no_other() -> None:
    jobs = [Job("0"), Job("1", "die"), Job("2"), Job("3")]
    ended = outcomes(jobs, 2)
    failed = ended.pop("1")
    assert failed.metrics is None
    assert failed.error == "its worker process died 3 times (out of memory?)"
    assert ended == squares([0, 2, 3])


@pytest.mark.parametrize("processes", [1, 2])
def test_no_task_no_outcome(processes: int) -> None:
    assert outcomes([], processes) == {}


def test_an_abandoned_run_leaves_no_worker() -> None:
    import multiprocessing

    run = run_tasks(work, [Job(str(n)) for n in range(4)], 2)
    next(run)
    run.close()
    assert multiprocessing.active_children() == []
