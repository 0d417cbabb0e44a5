"""The cells of a study: the grid times the replications."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reports.files import digest
from reports.study.grid import StudyGrid, grid_of
from reports.study.renamed import former
from reports.study.rounds import first_round
from reports.study.scenario import build_scenario, profile_text
from reports.study.sections import CacheSection, ResolvedStudy
from reports.study.settings import Settings
from reports.study.traces import refuse_rate, trace_key
from reports.version import version
from simulator.base.errors import DataError, SettingError, UsageError, printable

if TYPE_CHECKING:
    from simulator.simulation import Scenario


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulation of a study.

    Parameters
    ----------
    identity
        Hash of everything that its result depends on.
    study
        The study with the grid's values put in, policies in canonical spelling.
    choice
        Dotted key -> value, for the keys of the grid.
    replication, seed
        Counted from 0; the seed of its workload, the same for every policy.
    trace
        The key of its workload.
    """

    identity: str
    study: ResolvedStudy
    choice: dict[str, Any]
    replication: int
    seed: int
    trace: str

    @property
    def draw(self) -> int | None:
        """The number of the draw of the profile's coefficients; None for the fitted ones."""
        return self.replication if self.study.model.draws else None


def cells_of(grid: StudyGrid, replications: int | None = None) -> list[Cell]:
    """Return the cells of a grid in its order, replications innermost.

    There are `replications`, by default those of the first round, which is all unless the study
    goes on until its intervals are narrow.

    Raises
    ------
    UsageError, DataError
        For replications in which nothing is drawn, a cell that occurs twice, or a workload that
        cannot be read.
    """
    _refuse_one_draw(grid.study)
    seeds = replication_seeds(grid.study, replications)
    cells = [
        cell_of(variant.study, variant.choice, replication, seed)
        for variant in grid.variants
        for replication, seed in enumerate(seeds)
    ]
    _refuse_twins(cells)
    _refuse_repetition(cells)
    return cells


def expand(settings: Settings) -> tuple[ResolvedStudy, list[Cell]]:
    """Return the study that the settings describe, and the cells of its first round.

    Raises
    ------
    UsageError, DataError
        Those of `grid_of` and `cells_of`.
    """
    grid = grid_of(settings)
    return grid.study, cells_of(grid)


def replication_seeds(study: ResolvedStudy, replications: int | None = None) -> list[int]:
    """Return the seed of each replication: the study's own first, then seeds drawn from it.

    There are `replications`, by default those of the first round.
    """
    import numpy as np

    seed = study.study.seed
    drawn = (
        int(np.random.SeedSequence(seed, spawn_key=(r,)).generate_state(1, np.uint64)[0] >> 1)
        for r in range(1, replications or first_round(study))
    )
    return [seed, *drawn]


def baseline_placer(study: ResolvedStudy, cells: list[Cell]) -> str:
    """Return the baseline placer, in canonical spelling, that the others are compared with.

    Raises
    ------
    UsageError
        When the stated one is not among the placers of the cells.
    """
    from policies.registry import canonical

    placers = list(dict.fromkeys(cell.study.policy.placer for cell in cells))
    if study.study.baseline is None:
        return "last" if "last" in placers else placers[0]
    try:
        baseline = canonical("placer", study.study.baseline)
    except UsageError as error:
        raise SettingError("study.baseline", str(error)) from error
    if baseline not in placers:
        problem = f"'{printable(baseline)}' is not among the placers: {', '.join(placers)}"
        raise SettingError("study.baseline", problem)
    return baseline


def cell_of(study: ResolvedStudy, choice: dict[str, Any], replication: int, seed: int) -> Cell:
    """Return the cell of a study without a grid, policies in their one spelling."""
    cell = Cell("", study, choice, replication, seed, trace_key(study, seed))
    return replace(cell, identity=_identity(cell))


def scenario_of(cell: Cell) -> Scenario:
    """Return a fresh scenario for a cell that was planned before, perhaps by another process.

    Raises
    ------
    UsageError, DataError
        Those of `build_scenario`; or the profile has changed since, so that the result would
        stand under a name that is not its own.
    """
    if _identity(cell) != cell.identity:
        profile = cell.study.model.profile
        raise DataError(profile, "the profile has changed since the study began: run it again")
    return build_scenario(cell.study, draw=cell.draw)


def _identity(cell: Cell) -> str:
    return digest([_scenario(cell.study, cell.draw), cell.trace, cell.seed])[:16]


def _scenario(study: ResolvedStudy, draw: int | None) -> dict[str, Any]:
    """Return what a result depends on, besides the workload and the seed."""
    keep = {"arrivals", "cache", "server", "policy", "model"}
    scenario = study.model_dump(include=keep)
    del scenario["model"]["draws"]  # what was drawn stands in the profile
    scenario["cache"] = _cache(scenario["cache"])
    scenario["model"]["profile"] = profile_text(study.model.profile, draw)
    scenario["warmup"] = study.study.warmup
    if study.study.percentile_names:  # absent from older folders
        scenario["percentiles"] = study.study.percentile_names
    scenario["milepost"] = version()
    return scenario


def _cache(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the cache settings in the form of older result folders, plus newer settings."""
    old = {"capacity": settings["capacity"], "evicts": former("cache.cut", settings["cut"])}
    new = {key: settings[key] for key in ("pools", "count_running", "kind", "states_per_prefix")}
    default = CacheSection()
    return old | {key: value for key, value in new.items() if value != getattr(default, key)}


def _refuse_twins(cells: list[Cell]) -> None:
    seen: dict[tuple[str, int], Cell] = {}
    for cell in cells:
        twin = seen.setdefault((cell.identity, cell.replication), cell)
        if twin is not cell:
            raise UsageError(
                f"the grid holds the same cell twice: {_shown(twin.choice)} and "
                f"{_shown(cell.choice)}"
            )


def _refuse_one_draw(study: ResolvedStudy) -> None:
    """Refuse draws of cost coefficients that allow no interval or never narrow it."""
    if study.model.draws and study.study.until_ci is not None:
        raise SettingError(
            "study.until_ci",
            "with model.draws the intervals tell what is not known of the costs, "
            "which more replications do not make narrow",
        )
    if study.model.draws and study.study.replications < 2:
        raise SettingError(
            "model.draws",
            "each replication has a draw of its own: study.replications: expected 2 or more",
        )


def _refuse_repetition(cells: list[Cell]) -> None:
    """Refuse several replications of a study in which nothing is random."""
    for cell in cells:
        study = cell.study
        replay = study.workload.trace is not None and study.server.timeless
        if cell.replication and replay and cell.draw is None:
            why = "with the instant server nothing in a replay depends on the seed"
            raise _repetition(study, why)


def refuse_unfit(study: ResolvedStudy, name: str, *, has_arrivals: bool) -> None:
    """Refuse a study whose settings do not fit its trace.

    Raises
    ------
    UsageError
        When replications or a rate are asked of a trace file that has times of its own.
    """
    refuse_rate(study, name, has_arrivals=has_arrivals)
    if study.model.draws:
        return
    if first_round(study) > 1 and study.workload.trace is not None and has_arrivals:
        why = "the trace has arrival times of its own, so nothing depends on the seed"
        raise _repetition(study, why)


def _repetition(study: ResolvedStudy, why: str) -> UsageError:
    if study.study.until_ci is not None:
        return SettingError(
            "study.until_ci",
            f"{why}; more replications tell nothing: leave it out (intervals then come from "
            "blocks of requests)",
        )
    return SettingError(
        "study.replications",
        f"{why}; one seed repeated is no evidence: set it to 1 (intervals then come from "
        "blocks of requests)",
    )


def _shown(choice: dict[str, Any]) -> str:
    return printable(", ".join(f"{key} = {value!r}" for key, value in choice.items()))
