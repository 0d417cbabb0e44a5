"""A drift study: how a law moves, and what it takes to follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from reports.study.cells import expand
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.version import version
from simulator.base.errors import SettingError, UsageError, printable
from simulator.plugins.protocols import Law

CLAIRVOYANT = "clairvoyant"
LEARNT = 200  # requests that warm up at least: a law cannot be planned for before it was seen
INTERVALS = (10, 25, 50, 100, 250, 500, 1000, 2500)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Replication:
    """One trace, and what each placer did on it.

    Parameters
    ----------
    overlaps
        The requests.
    overlap_tokens
        Sum over each window that counts, shape (windows,).
    mean_overlap_tokens
        Under the law of each window that counts, shape (windows,).
    courses
        By placer, `clairvoyant` among them.
    recovery_requests
        By placer, after the largest change; empty where there is none. None: it never recovers.
    """

    overlaps: Overlaps
    overlap_tokens: Float64
    mean_overlap_tokens: Float64
    courses: dict[str, Course]
    recovery_requests: dict[str, int | None]


@dataclass(frozen=True, slots=True, eq=False)
class DriftStudy:
    """All that a drift study finds.

    Parameters
    ----------
    milepost_version
        Of the Milepost that found it.
    study
        Every setting, as `study.resolved.toml` of a sweep has them.
    placers
        In the order of the study, in canonical spelling.
    budget
        Checkpoints of all of them.
    windows
        Of every replication.
    distances
        Between windows of the first replication.
    truth
        Whether laws are the true ones of a generator, rather than those of hindsight.
    replications
        One a seed.
    paced
        By requests between two looks at the law: the best of the windowed and decayed placers.
    command
        How a reader may repeat this, for the page.
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


def run(settings: Settings, progress: Progress = lambda done, total: None) -> DriftStudy:
    """Run the study that the settings describe.

    Raises
    ------
    UsageError, DataError
        For a study whose grid varies more than placers, placers other than `optimal` or with
        several budgets, or a trace that is too short.
    """
    study, placers, seeds = read_study(settings)
    budget = _budget(placers)
    overlaps = [read_overlaps(study, seed) for seed in seeds]
    windows = cut(len(overlaps[0].depths), warmup_requests(study, placers, len(overlaps[0].depths)))
    for each in overlaps:
        refuse_without_overlaps(study, each, windows)
    laws = [laws_by_window(study, each, windows) for each in overlaps]
    distances = distances_over_time(overlaps[0].depths, windows, study.study.seed)
    steps = _Steps(progress, len(seeds) * (len(placers) + len(INTERVALS)))
    replications = [
        _replicate(each, law, windows, placers, budget, distances.change, steps)
        for each, law in zip(overlaps, laws, strict=True)
    ]
    paced = _paces(_best_learner(replications, placers), windows)
    for replication, law in zip(replications, laws, strict=True):
        more = [placer for placer in paced.values() if placer not in replication.courses]
        extra = _replicate(replication.overlaps, law, windows, more, budget, None, steps)
        replication.courses.update(extra.courses)
    steps.end()
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


def read_study(settings: Settings) -> tuple[ResolvedStudy, list[str], list[int]]:
    """Return the study, its placers in canonical spelling, and the seeds of its replications.

    Raises
    ------
    UsageError
        Where the grid varies anything else, or a trace file is to be replicated.
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
    placers = list(dict.fromkeys(cell.study.policy.placer for cell in cells))
    try:
        _ = [parameters(placer) for placer in placers]
    except UsageError as error:
        raise SettingError("policy.placer", str(error)) from error
    return study, placers, list(dict.fromkeys(cell.seed for cell in cells))


def warmup_requests(study: ResolvedStudy, placers: Sequence[str], requests: int) -> int:
    """Return the requests before those that count: until every plan that is kept was made."""
    trained = [int(parameters(placer).get("train", 0)) for placer in placers]
    return max(LEARNT, *trained, round(study.study.warmup_share * requests))


def _budget(placers: Sequence[str]) -> int:
    budgets = {int(parameters(placer)["budget"]) for placer in placers}
    if len(budgets) > 1:
        shown = " and ".join(map(str, sorted(budgets)))
        raise UsageError(f"drift: expected one budget for all placers, found {shown}")
    return budgets.pop()


def _replicate(
    overlaps: Overlaps,
    laws: Sequence[Law],
    windows: Windows,
    placers: Sequence[str],
    budget: int,
    change: int | None,
    steps: _Steps,
) -> Replication:
    depths, best = overlaps.depths, best_plans(laws, budget, windows)
    moments = [windows.start(k) for k in range(windows.count)]
    plans = {CLAIRVOYANT: best}
    for placer in placers:
        plans[placer] = follow(placer, depths, moments)
        steps.one()
    return Replication(
        overlaps,
        _sums(depths, windows),
        np.array([mean_depth(laws[k]) for k in windows.counted]),
        {name: course(each, best, depths, windows, laws) for name, each in plans.items()},
        {} if change is None else _recovered(plans, laws, windows, budget, change),
    )


def _recovered(
    plans: Mapping[str, Plans], laws: Sequence[Law], windows: Windows, budget: int, change: int
) -> dict[str, int | None]:
    # the window after that of the change holds nothing of what was before
    law = laws[min(change // windows.width + 1, windows.count - 1)]
    return {name: recovery_requests(each, law, budget, change) for name, each in plans.items()}


def _sums(depths: Int64, windows: Windows) -> Float64:
    sums = [int(windows.of(depths, window).sum()) for window in windows.counted]
    return np.array(sums, np.float64)


def _best_learner(replications: Sequence[Replication], placers: Sequence[str]) -> str:
    """Return the placer that saves most of those that go on learning, whatever it has found."""

    def saved(placer: str) -> float:
        return sum(float(each.courses[placer].saved_tokens.sum()) for each in replications)

    learning = [p for p in placers if not {"train", "drift"} & parameters(p).keys()]
    return max(learning or placers, key=saved)


def _paces(placer: str, windows: Windows) -> dict[int, str]:
    """Return the placer with ever more requests between two looks at the law."""
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


class _Steps:
    """Counts placers followed, for the progress."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def one(self) -> None:
        self._done += 1
        self._progress(min(self._done, self._total), self._total)

    def end(self) -> None:
        self._progress(self._total, self._total)
