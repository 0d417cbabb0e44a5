"""Drift studies: how the law (distribution) of overlaps changes, and which placers keep up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from reports.artifacts.journal import CellOutcome
from reports.drift.distances import Distances, distances_over_time
from reports.drift.evaluation import Course, best_plans, course, recovery_requests
from reports.drift.laws import Float64, Int64, mean_depth
from reports.drift.planning import Plans, follow, parameters
from reports.drift.traffic import (
    Overlaps,
    knows_truth,
    laws_by_window,
    read_overlaps,
    refuse_without_overlaps,
)
from reports.drift.windows import Windows, cut
from reports.execution.runner import CellTask, Progress, Runner, Work, study_hash
from reports.study.cells import Cell, cell_of, expand
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.version import version
from simulator.base.errors import SettingError, UsageError, printable
from simulator.plugins.protocols import Law

CLAIRVOYANT = "clairvoyant"
LEARNT = 200  # least warm-up, in requests: a law must be observed before it can be planned for
INTERVALS = (10, 25, 50, 100, 250, 500, 1000, 2500)

RESULTS = ("series.json", "drift.json", "report.html", "charts")
Judged = tuple[Course, int | None]  # with the requests until it recovered


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """One trace, and the results of each placer on it.

    Parameters
    ----------
    overlaps
        The overlap of each request.
    overlap_tokens
        Sum over each window that counts, shape (windows,).
    mean_overlap_tokens
        Expected overlap under the law of each window that counts, shape (windows,).
    courses
        Placer -> its savings in each window, `clairvoyant` included.
    recovery_requests
        Placer -> requests from the largest change until it recovers, None if it never does; empty
        where there is no change.
    """

    overlaps: Overlaps
    overlap_tokens: Float64
    mean_overlap_tokens: Float64
    courses: dict[str, Course]
    recovery_requests: dict[str, int | None]


@dataclass(frozen=True, slots=True, eq=False)
class DriftStudy:
    """The results of a drift study.

    Parameters
    ----------
    milepost_version
        The version of Milepost that computed it.
    study
        Every setting, as in `study.resolved.toml` of a sweep.
    placers
        In the order of the study, in canonical spelling.
    budget
        Checkpoints a prompt, the same for all placers.
    windows
        Windows of requests, the same for every replication.
    distances
        Between windows of the first replication.
    truth
        Whether laws are the true ones of a generator, rather than empirical ones.
    replications
        One for each seed.
    paced
        Requests between two plans -> the best windowed or decayed placer with that interval.
    command
        The command line that repeats the study, for the page.
    """

    milepost_version: str
    study: dict[str, Any]
    placers: tuple[str, ...]
    budget: int
    windows: Windows
    distances: Distances
    truth: bool
    replications: tuple[Replication, ...]
    paced: dict[int, str]
    command: str = "milepost drift"


def run(
    settings: Settings,
    folder: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    cluster: str | None = None,
) -> DriftStudy:
    """Run the study that the settings describe; a cell is one placer on one replication.

    Cells in the journal of `folder` are not computed again; without a folder nothing is stored.
    The others run on `jobs` local processes, or on the workers of the dask scheduler at the address
    `cluster`.

    Raises
    ------
    UsageError, DataError
        For a study whose grid varies more than placers, placers other than `optimal` or with
        several budgets, a trace that is too short, or a folder or cluster that is at fault.
    """
    study, cells = read_study(settings)
    budget = _budget(_placers(cells))
    key = study_hash(study, cells, "drift")
    with Runner(folder, key, jobs, cluster, progress, alone=True, results=RESULTS) as runner:
        return _run(runner, study, cells, budget)


def _run(runner: Runner, study: ResolvedStudy, cells: list[Cell], budget: int) -> DriftStudy:
    placers = _placers(cells)
    tasks = [runner.task(cell) for cell in cells if cell.study.policy.placer == placers[0]]
    overlaps = [read_overlaps(task.trace, study, task.cell.seed) for task in tasks]
    requests = len(overlaps[0].depths)
    windows = cut(requests, warmup_requests(study, placers, requests))
    for each in overlaps:
        refuse_without_overlaps(study, each, windows)
    distances = distances_over_time(overlaps[0].depths, windows, study.study.seed)
    work = partial(follow_cell, windows=windows, budget=budget, change=distances.change)
    first = _followed(runner, work, cells)
    replications = [
        _replication(task, own, windows, budget, distances.change, first[task.cell.seed])
        for task, own in zip(tasks, overlaps, strict=True)
    ]
    paced = _paces(_best_learner(replications, placers), windows)
    more = [placer for placer in paced.values() if placer not in placers]
    extra = _followed(runner, work, [_placed(t.cell, each) for t in tasks for each in more])
    for replication in replications:
        own = extra.get(replication.overlaps.seed, {})
        replication.courses.update({placer: course for placer, (course, _) in own.items()})
    return DriftStudy(
        version(),
        study.absolute(),
        tuple(placers),
        budget,
        windows,
        distances,
        knows_truth(study),
        tuple(replications),
        paced,
    )


def read_study(settings: Settings) -> tuple[ResolvedStudy, list[Cell]]:
    """Return the study and its cells.

    Raises
    ------
    UsageError
        Where the grid varies anything other than placers, or a trace file is to be replicated.
    """
    study, cells = expand(settings)
    others = [key for key in study.grid if key != "policy.placer"]
    if others:
        place = f"{settings.origin(f'grid.{others[0]}')}: '{printable(others[0])}'"
        raise UsageError(f"{place}: the grid of a drift study varies policy.placer only")
    if study.workload.trace is not None and study.study.replications > 1:
        raise UsageError(
            f"{settings.origin('study.replications')}: 'study.replications': the overlaps of a "
            f"trace file are the same in every replication: expected 1, found "
            f"{study.study.replications}"
        )
    try:
        _ = [parameters(placer) for placer in _placers(cells)]
    except UsageError as error:
        raise SettingError("policy.placer", str(error)) from error
    return study, cells


def warmup_requests(study: ResolvedStudy, placers: Sequence[str], requests: int) -> int:
    """Return the number of warm-up requests: enough for every fixed plan to have been made."""
    trained = [int(parameters(placer).get("train", 0)) for placer in placers]
    return max(LEARNT, *trained, round(study.study.warmup_share * requests))


def _budget(placers: Sequence[str]) -> int:
    budgets = {int(parameters(placer)["budget"]) for placer in placers}
    if len(budgets) > 1:
        shown = " and ".join(map(str, sorted(budgets)))
        raise UsageError(f"drift: expected one budget for all placers, found {shown}")
    return budgets.pop()


def _placers(cells: Sequence[Cell]) -> list[str]:
    """Return the placers of the cells in canonical spelling."""
    return list(dict.fromkeys(cell.study.policy.placer for cell in cells))


def _placed(cell: Cell, placer: str) -> Cell:
    """Return a cell with another placer."""
    policy = cell.study.policy.model_copy(update={"placer": placer})
    study = cell.study.model_copy(update={"policy": policy})
    return cell_of(study, cell.choice, cell.replication, cell.seed)


def _followed(runner: Runner, work: Work, cells: Sequence[Cell]) -> dict[int, dict[str, Judged]]:
    """Return seed of the replication -> placer -> its results.

    Raises
    ------
    UsageError
        Where a placer failed.
    """
    followed: dict[int, dict[str, Judged]] = {}
    for cell, outcome in zip(cells, runner.run(work, cells), strict=True):
        placer, kept = cell.study.policy.placer, outcome.metrics
        if kept is None:
            raise UsageError(f"placer '{printable(placer)}': {outcome.error}")
        series = Course(*(np.array(kept[each.name]) for each in fields(Course)))
        followed.setdefault(cell.seed, {})[placer] = series, kept["recovery_requests"]
    return followed


def _replication(
    task: CellTask,
    overlaps: Overlaps,
    windows: Windows,
    budget: int,
    change: int | None,
    followed: Mapping[str, Judged],
) -> Replication:
    truth = _truth(Question.of(task, windows, budget))
    everyone = {CLAIRVOYANT: truth.judge(truth.best, change), **followed}
    return Replication(
        overlaps,
        _sums(overlaps.depths, windows),
        np.array([mean_depth(truth.laws[k]) for k in windows.counted]),
        {placer: course for placer, (course, _) in everyone.items()},
        {} if change is None else {placer: n for placer, (_, n) in everyone.items()},
    )


def follow_cell(task: CellTask, windows: Windows, budget: int, change: int | None) -> CellOutcome:
    """Compute the plans of the placer of one cell, and evaluate them.

    Parameters
    ----------
    windows, budget
        Those of the study.
    change
        The request at which the largest change begins; None where there is none.
    """
    truth = _truth(Question.of(task, windows, budget))
    moments = [windows.start(k) for k in range(windows.count)]
    plans = follow(task.cell.study.policy.placer, truth.depths, moments)
    series, recovery = truth.judge(plans, change)
    metrics = {each.name: getattr(series, each.name).tolist() for each in fields(Course)}
    return CellOutcome(task.identity, {**metrics, "recovery_requests": recovery})


@dataclass(frozen=True, slots=True)
class Question:
    """The inputs that placers of a replication share; equal for equal trace, windows and budget."""

    trace: Path
    windows: Windows
    budget: int
    cell: Cell = field(compare=False)

    @classmethod
    def of(cls, task: CellTask, windows: Windows, budget: int) -> Question:
        """Return the inputs of a cell."""
        return cls(task.trace, windows, budget, task.cell)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The overlaps of a replication, the law of each window, and the best plans for these laws."""

    question: Question
    depths: Int64
    laws: list[Law]
    best: Plans

    def judge(self, plans: Plans, change: int | None) -> Judged:
        """Return the evaluation of plans, and the requests until they recovered from a change."""
        windows, budget = self.question.windows, self.question.budget
        series = course(plans, self.best, self.depths, windows, self.laws)
        if change is None:
            return series, None
        # the first window that lies wholly after the change
        law = self.laws[min(change // windows.width + 1, windows.count - 1)]
        return series, recovery_requests(plans, law, budget, change)


@lru_cache(maxsize=64)
def _truth(question: Question) -> Truth:
    cell, windows = question.cell, question.windows
    overlaps = read_overlaps(question.trace, cell.study, cell.seed)
    laws = laws_by_window(cell.study, overlaps, windows)
    return Truth(question, overlaps.depths, laws, best_plans(laws, question.budget, windows))


def _sums(depths: Int64, windows: Windows) -> Float64:
    sums = [int(windows.of(depths, window).sum()) for window in windows.counted]
    return np.array(sums, np.float64)


def _best_learner(replications: Sequence[Replication], placers: Sequence[str]) -> str:
    """Return the placer that saves most of those that never stop updating their plan."""

    def saved(placer: str) -> float:
        return sum(float(each.courses[placer].saved_tokens.sum()) for each in replications)

    learning = [p for p in placers if not {"train", "drift"} & parameters(p).keys()]
    return max(learning or placers, key=saved)


def _paces(placer: str, windows: Windows) -> dict[int, str]:
    """Return requests between two plans -> the placer with that interval."""
    from policies.registry import canonical

    bare = ",".join(
        f"{key}={value}" for key, value in parameters(placer).items() if key != "replan"
    )
    longest = len(windows.counted) * windows.width // 2
    return {
        every: canonical("placer", f"optimal:{bare},replan={every}")
        for every in INTERVALS
        if every <= longest
    }
